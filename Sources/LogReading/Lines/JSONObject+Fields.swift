// SPDX-License-Identifier: Apache-2.0

import Formats

extension JSONObject {
    /// The member as an amount: finite, not negative, and small enough that sums do not overflow.
    func amount(_ name: String) -> Double? {
        self[name]?.amount
    }

    /// The members that are amounts, up to `mostNames`.
    var amounts: [String: Double] {
        var amounts: [String: Double] = [:]
        for member in members.prefix(Self.mostNames) {
            if let amount = member.value.amount { amounts[member.name.cut, default: 0] += amount }
        }
        return amounts
    }

    /// The members that are objects, up to `mostNames`.
    var objects: [(name: String, object: JSONObject)] {
        members.prefix(Self.mostNames).compactMap { member in
            member.value.object.map { (member.name.cut, $0) }
        }
    }

    /// The members that are texts, up to `mostNames`.
    var texts: [(name: String, text: String)] {
        members.prefix(Self.mostNames).compactMap { member in
            member.value.string.map { (member.name.cut, $0.cut) }
        }
    }

    /// The maximum number of names of one kind in a fleet; partitions are the most numerous.
    private static let mostNames = 1024
}

extension JSONValue {
    /// A number, or a text that contains one: OTLP's JSON writes 64-bit integers as texts.
    fileprivate var amount: Double? {
        let number: Double? =
            switch self {
            case .number(let number): number.double
            case .string(let text): text.utf8.count <= 24 ? Double(text) : nil
            default: nil
            }
        guard let number, number.isFinite, number >= 0 else { return nil }
        return min(number, 1e15)
    }
}
