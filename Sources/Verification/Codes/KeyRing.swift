// SPDX-License-Identifier: Apache-2.0

/// The id of a key in its ring, stored beside what was made with it.
package struct KeyID: Sendable, Hashable, CustomStringConvertible {
    package let number: Int16

    package init(_ number: Int16) {
        self.number = number
    }

    package var description: String { String(number) }
}

/// The keys of one use: the active one makes new values, the others still serve values made before a rotation.
package struct KeyRing: Sendable, Redacted {
    package let activeID: KeyID

    /// The active key.
    package let active: RingKey
    private let keys: [KeyID: RingKey]

    /// A ring whose first key is the active one, or nil when there is none, an id repeats or a key has under 32 bytes.
    package init?(_ entries: [(id: KeyID, bytes: [UInt8])]) {
        guard let first = entries.first else { return nil }
        var keys: [KeyID: RingKey] = [:]
        for (id, bytes) in entries {
            guard bytes.count >= 32, keys.updateValue(RingKey(bytes), forKey: id) == nil else { return nil }
        }
        guard let active = keys[first.id] else { return nil }
        activeID = first.id
        self.active = active
        self.keys = keys
    }

    /// The key of an id, or nil when the ring no longer holds it.
    package subscript(id: KeyID) -> RingKey? { keys[id] }

    /// The ids of all keys, the active one first and then in order.
    package var ids: [KeyID] {
        [activeID] + keys.keys.filter { $0 != activeID }.sorted { $0.number < $1.number }
    }

    /// All keys, in the order of their ids.
    package var all: [RingKey] { ids.compactMap { keys[$0] } }

    /// The ids under which this ring holds another key than an earlier one.
    package func changedKeys(since earlier: KeyRing) -> [KeyID] {
        keys.filter { id, key in earlier.keys[id].map { $0 != key } ?? false }.keys.sorted { $0.number < $1.number }
    }

    package var description: String { "KeyRing(active: \(activeID), count: \(keys.count))" }
}
