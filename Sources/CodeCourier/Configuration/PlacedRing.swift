// SPDX-License-Identifier: Apache-2.0

import Formats
import SettingsReading
import Verification

/// A ring and the place where an operator edits it.
struct PlacedRing {
    let name: String
    let ring: KeyRing
    let setting: StatedSecret

    /// The key of the configuration, such as `keys.hash`.
    var key: String { "keys.\(name)" }

    /// The file of the ring, or the line or variable that holds it.
    var place: String { setting.path ?? setting.origin.place }
}

/// The text of a ring, changed without changing its form: on one line, or with one key a line.
struct RingText {
    private var entries: [String]
    private let separator: String
    private let end: String

    init(_ text: String) {
        entries = KeySettings.entries(text)
        separator = text.trimmed.contains(where: \.isNewline) ? "\n" : ","
        end = text.last?.isNewline == true ? "\n" : ""
    }

    var text: String { entries.joined(separator: separator) + end }

    /// Adds a key at the end, so that it is known before it signs.
    mutating func append(_ entry: String) {
        entries.append(entry)
    }

    /// Puts a key in front, so that it signs.
    mutating func moveToFront(_ id: KeyID) {
        guard let index = index(of: id) else { return }
        entries.insert(entries.remove(at: index), at: 0)
    }

    mutating func remove(_ id: KeyID) {
        entries.removeAll { Self.id(of: $0) == id }
    }

    private func index(of id: KeyID) -> Int? { entries.firstIndex { Self.id(of: $0) == id } }

    private static func id(of entry: String) -> KeyID? { Int16(entry.prefix { $0 != ":" }).map { KeyID($0) } }
}

extension RingText {
    /// A new key with an id of its own: `id:base64` of 32 random bytes; nil where no id is left.
    static func newEntry(in ring: KeyRing) -> String? {
        let highest = ring.ids.map(\.number).max() ?? 0
        guard highest < .max else { return nil }
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
        return "\(highest + 1):\(Base64.encode(bytes))"
    }
}
