// SPDX-License-Identifier: Apache-2.0

import Crypto
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

    /// The keyed digest of an IP address's network: the first 16 bytes of HMAC-SHA-256 over `"ip" ‖ network`.
    package func digest(of address: IPAddress) -> UUIDValue {
        var fields = FieldJoiner()
        fields.append("ip")
        fields.append(address.network)
        return fingerprint.active.digest(fields)
    }

    /// The keyed digest of a text that a scope of limits counts, such as a device's id.
    func digest(of text: String, in scope: LimitKey.Scope) -> UUIDValue {
        var fields = FieldJoiner()
        fields.append(scope.rawValue)
        fields.append(text)
        return fingerprint.active.digest(fields)
    }

    /// The keyed digest of a payload, which detects another payload under the same request id.
    ///
    /// A plain hash would not hide a phone number: all 10^10 numbers can be hashed and compared.
    package func digest(of payload: [UInt8]) -> UUIDValue {
        var fields = FieldJoiner()
        fields.append("payload")
        fields.append(payload)
        return fingerprint.active.digest(fields)
    }

    /// The same digest of a request's identity, which is written in place.
    func digest(of request: VerificationRequest) -> UUIDValue {
        var fields = FieldJoiner()
        fields.append("payload")
        fields.appendJoined { request.appendIdentity(to: &$0) }
        return fingerprint.active.digest(fields)
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

/// The check value of one key: equal for equal keys of the same ring, and of no use for finding the key.
///
/// The database stores those of the fleet's keys, which exposes a worker with a different key under a known id.
package struct KeyCheckValue: Sendable {
    package let name: KeyName

    /// HMAC-SHA-256 over `"key_check" ‖ ring` under the key.
    package let mac: [UInt8]

    package init(_ name: KeyName, key: RingKey) {
        self.name = name
        var fields = FieldJoiner()
        fields.append("key_check")
        fields.append(name.ring)
        mac = key.authenticate(fields)
    }
}

/// The name of a key in configurations and logs: its ring, and its id in the ring.
package struct KeyName: Sendable, Hashable, Comparable, CustomStringConvertible {
    package let ring: String
    package let id: KeyID

    package init(ring: String, id: KeyID) {
        self.ring = ring
        self.id = id
    }

    package static func < (left: KeyName, right: KeyName) -> Bool {
        (left.ring, left.id.number) < (right.ring, right.id.number)
    }

    package var description: String { "keys.\(ring): key \(id)" }
}

extension KeyRing {
    /// The check values of the ring's keys, under this name of the ring.
    package func checkValues(as ring: String) -> [KeyCheckValue] {
        ids.compactMap { id in self[id].map { KeyCheckValue(KeyName(ring: ring, id: id), key: $0) } }
    }
}

extension CodeKeys {
    /// The rings by their names in the configuration.
    package var rings: [(name: String, ring: KeyRing)] {
        [("code", code), ("hash", hash), ("seal", seal), ("fingerprint", fingerprint)]
    }

    package var names: [KeyName] { rings.flatMap { name, ring in ring.ids.map { KeyName(ring: name, id: $0) } } }

    package var checkValues: [KeyCheckValue] { rings.flatMap { $0.ring.checkValues(as: $0.name) } }

    /// True if this set has a key id that an earlier set lacks, or lacks one of its ids.
    package func hasOtherIDs(than earlier: CodeKeys) -> Bool {
        Set(names) != Set(earlier.names)
    }
}

/// Encrypts a recipient, or another text that may identify a person, with AES-GCM for storage in the database.
package enum RecipientSeal {
    /// Seals a text; the verification's id is authenticated too, so a seal opens for no other row.
    package static func seal(
        _ text: String,
        for verification: VerificationID,
        key: RingKey,
        using generator: inout some RandomNumberGenerator
    ) -> [UInt8]? {
        text.utf8Span.span.withUnsafeBytes { text in
            verification.uuid.withBytes { seal(text, in: $0, key: key, using: &generator) }
        }
    }

    /// Seals bytes; they open only with the same `context`.
    ///
    /// The generator makes the nonce, so it must be cryptographically secure.
    package static func seal(
        _ bytes: [UInt8],
        in context: [UInt8],
        key: RingKey,
        using generator: inout some RandomNumberGenerator
    ) -> [UInt8]? {
        bytes.withUnsafeBytes { bytes in
            context.withUnsafeBytes { seal(bytes, in: $0, key: key, using: &generator) }
        }
    }

    private static func seal(
        _ bytes: UnsafeRawBufferPointer,
        in context: UnsafeRawBufferPointer,
        key: RingKey,
        using generator: inout some RandomNumberGenerator
    ) -> [UInt8]? {
        let words = (generator.next(), generator.next())
        let random = withUnsafeBytes(of: words) { words in
            try? AES.GCM.Nonce(data: UnsafeRawBufferPointer(rebasing: words[..<12]))
        }
        guard let nonce = random else { return nil }
        return (try? AES.GCM.seal(bytes, using: key.symmetric, nonce: nonce, authenticating: context))?.combined.map {
            Array($0)
        }
    }

    /// Opens sealed bytes; nil if the key or the context differs.
    package static func open(_ sealed: [UInt8], in context: [UInt8], key: RingKey) -> [UInt8]? {
        guard let box = try? AES.GCM.SealedBox(combined: sealed) else { return nil }
        return (try? AES.GCM.open(box, using: key.symmetric, authenticating: context)).map { Array($0) }
    }

    /// Opens a sealed text; nil if the key or the verification differs.
    package static func open(_ sealed: [UInt8], for verification: VerificationID, key: RingKey) -> String? {
        open(sealed, in: verification.uuid.bytes, key: key).flatMap { String(validating: $0, as: UTF8.self) }
    }
}
