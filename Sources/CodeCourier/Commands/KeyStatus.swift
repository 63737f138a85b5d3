// SPDX-License-Identifier: Apache-2.0

import Administration
import Formats
import Verification

/// The keys of all rings with the need of live rows for them.
struct KeyStatus {
    struct Key {
        enum State: String {
            /// The first key of its ring, which signs.
            case signs
            case reads

            /// Live rows need the key, but its ring lacks it.
            case missing
        }

        let name: KeyName
        let state: State

        /// The live rows that need the key; nil if none does.
        let need: KeyNeed?

        /// The sentence that says what to do.
        var advice: String {
            if state == .missing { return "put it back at the end of the ring" }
            if state == .signs { return "" }
            guard name.ring != "fingerprint" else { return "docs/operators.md#key-rotation" }
            guard let need else { return "may go: code-courier keys retire \(name.ring) \(name.id)" }
            return "may go at \(need.until.rfc3339)"
        }
    }

    /// The keys by ring, each ring's signing key first.
    let keys: [Key]
    private let places: [String: String]

    /// Keys of rings that are not read here are never reported as missing.
    init(rings: [PlacedRing], needs: [KeyNeed]) {
        places = Dictionary(rings.map { ($0.name, $0.place) }) { first, _ in first }
        keys = rings.flatMap { placed in
            let own = needs.filter { $0.name.ring == placed.name }
            let known = placed.ring.ids.map { id in
                Key(
                    name: KeyName(ring: placed.name, id: id),
                    state: id == placed.ring.activeID ? .signs : .reads,
                    need: own.first { $0.name.id == id }
                )
            }
            let missing = own.filter { placed.ring[$0.name.id] == nil }
            return known + missing.map { Key(name: $0.name, state: .missing, need: $0) }
        }
    }

    var lines: [String] {
        var table = TextTable(numbers: [1, 3], indent: 0)
        table.row("ring", "key", "", "live rows", "needed until", "")
        for key in keys {
            let isUnknown = key.name.ring == "fingerprint"
            table.row(
                key.name.ring,
                key.name.id.description,
                key.state == .missing ? "MISSING" : key.state.rawValue,
                isUnknown ? "-" : Int(key.need?.rows ?? 0).grouped,
                key.need?.until.rfc3339 ?? "-",
                key.advice
            )
        }
        return table.lines
    }

    var json: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.array("keys") { array in
                for key in keys {
                    array.object { object in
                        object.member("ring", key.name.ring)
                        object.member("id", Int64(key.name.id.number))
                        object.member("state", key.state.rawValue)
                        object.member("place", ifPresent: places[key.name.ring])
                        if key.name.ring != "fingerprint" { object.member("liveRows", key.need?.rows ?? 0) }
                        object.member("neededUntil", ifPresent: key.need?.until.rfc3339)
                        object.member("mayGo", key.state == .reads && key.need == nil && key.name.ring != "fingerprint")
                    }
                }
            }
        }
        return writer.bytes
    }
}
