// SPDX-License-Identifier: Apache-2.0

package import Formats

/// The four key rings of a worker; the functions that use a ring document its purpose.
package struct CodeKeys: Sendable {
    package let code: KeyRing
    package let hash: KeyRing
    package let fingerprint: KeyRing
    package let seal: KeyRing

    /// The hash of the toll-fraud brake's keys, by the active fingerprint key.
    package let brake: BrakeHash

    package init(code: KeyRing, hash: KeyRing, fingerprint: KeyRing, seal: KeyRing) {
        self.code = code
        self.hash = hash
        self.fingerprint = fingerprint
        self.seal = seal
        brake = BrakeHash(fingerprint.active)
    }

    package func fingerprint(of recipient: Recipient) -> [UInt8] {
        recipient.fingerprint(key: fingerprint.active)
    }

    /// The keyed fingerprint of an IP address's network: HMAC-SHA-256 over `"ip" ‖ network`.
    package func fingerprint(of address: IPAddress) -> [UInt8] {
        var fields = FieldJoiner()
        fields.append("ip")
        fields.append(address.network)
        return fingerprint.active.authenticate(fields)
    }

    /// The keyed digest of a payload, which detects another payload under the same request id.
    ///
    /// A plain hash would not hide a phone number: all 10^10 numbers can be hashed and compared.
    package func digest(of payload: [UInt8]) -> UUIDValue {
        var fields = FieldJoiner()
        fields.append("payload")
        fields.append(payload)
        return fingerprint.active.authenticate(fields).withUnsafeBytes { UUIDValue(digest: $0) }
    }
}

extension Recipient {
    /// HMAC-SHA-256 over `"recipient" ‖ channel ‖ canonical recipient`.
    package func fingerprint(key: RingKey) -> [UInt8] {
        var fields = FieldJoiner()
        fields.append("recipient")
        fields.append(channel.rawValue)
        fields.append(canonical)
        return key.authenticate(fields)
    }
}

/// The key rings in force, which a reload replaces.
package typealias KeySource = InForce<CodeKeys>
