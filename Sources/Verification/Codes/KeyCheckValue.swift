// SPDX-License-Identifier: Apache-2.0

/// The check value of one key: the same for the same key of the same ring, and no help in finding the key.
///
/// A fleet's database keeps those of its keys, so that a worker with another key under a known id is recognised.
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

/// A key as configurations and logs name it: its ring and its id there.
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
    /// The check values of its keys, as the ring of this name.
    package func checkValues(as ring: String) -> [KeyCheckValue] {
        ids.compactMap { id in self[id].map { KeyCheckValue(KeyName(ring: ring, id: id), key: $0) } }
    }
}

extension CodeKeys {
    /// The rings by their names in a configuration.
    package var rings: [(name: String, ring: KeyRing)] {
        [("code", code), ("hash", hash), ("seal", seal), ("fingerprint", fingerprint)]
    }

    /// The check values of all keys.
    package var checkValues: [KeyCheckValue] { rings.flatMap { $0.ring.checkValues(as: $0.name) } }

    /// Whether an earlier set of rings had every one of these keys.
    package func adds(to earlier: CodeKeys) -> Bool {
        zip(rings, earlier.rings).contains { now, before in now.ring.ids.contains { before.ring[$0] == nil } }
    }
}
