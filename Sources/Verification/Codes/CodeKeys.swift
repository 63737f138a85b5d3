// SPDX-License-Identifier: Apache-2.0

/// The four rings of a courier: what each one makes is said at the function that uses it.
package struct CodeKeys: Sendable {
    package let code: KeyRing
    package let hash: KeyRing
    package let fingerprint: KeyRing
    package let seal: KeyRing

    package init(code: KeyRing, hash: KeyRing, fingerprint: KeyRing, seal: KeyRing) {
        self.code = code
        self.hash = hash
        self.fingerprint = fingerprint
        self.seal = seal
    }

    /// The keyed identity of a recipient.
    package func fingerprint(of recipient: Recipient) -> [UInt8] {
        recipient.fingerprint(key: fingerprint.active)
    }

    /// The keyed identity of whom an IP address is from: HMAC-SHA-256 over `"ip" ‖ network`.
    package func fingerprint(of address: IPAddress) -> [UInt8] {
        var fields = FieldJoiner()
        fields.append("ip")
        fields.append(address.network)
        return fingerprint.active.authenticate(fields)
    }

    /// The keyed digest of a payload, by which the same request id with another payload is found.
    ///
    /// Keyed, because a bare digest of a phone number is a phone number to whoever can count to 10^10.
    package func digest(of payload: [UInt8]) -> UUIDValue {
        var fields = FieldJoiner()
        fields.append("payload")
        fields.append(payload)
        return UUIDValue(digest: fingerprint.active.authenticate(fields))
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
