// SPDX-License-Identifier: Apache-2.0

import Formats

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
