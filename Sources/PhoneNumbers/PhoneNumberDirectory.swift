// SPDX-License-Identifier: Apache-2.0

package import Verification

/// The facts about phone numbers, from numbering plans embedded by the build.
///
/// The facts equal those of libphonenumber at `PlanTable.embedded.date`; a range assigned later is invalid until `make
/// numbers` renews the plans, or a policy's `numberPlan` adds it.
package struct PhoneNumberDirectory: NumberDirectory {
    private let table = PlanTable.embedded

    /// The origin of the plans, such as `libphonenumber 9.0.43, 2026-11-06`.
    package static var release: String { "libphonenumber \(PlanTable.embedded.version), \(PlanTable.embedded.date)" }

    /// Loads the plans, so that no later lookup has to.
    package init() {}

    /// The facts about one number, in some tens of nanoseconds, without allocation, from any thread.
    ///
    /// The number is looked up as written, digit by digit. With a trunk prefix after the calling code (+44 0 7400…) it
    /// would ring the same phone as without, and must not count as a second recipient: no plan contains such numbers,
    /// so they are invalid.
    package func facts(of number: PhoneNumber) -> NumberFacts {
        table.facts(of: number.e164.utf8.dropFirst())
    }
}

/// The numbering plans of the world: one automaton over the digits after a calling code.
///
/// A state's outcome is the result for a number that ends in it. The head of `number-plans.txt` describes the file's
/// format.
struct PlanTable: Sendable {
    static let embedded = PlanTable(Embedded.`number-plans.txt`)

    /// The version of libphonenumber, and the date of its metadata as YYYY-MM-DD.
    let version: String
    let date: String

    /// The calling codes 1 to 999 by number; nil for a code that no region has.
    private var codes = [CallingCode?](repeating: nil, count: 1000)

    /// The transitions: the next state for each of the ten digits of each state.
    private var next: [UInt16] = []

    /// The outcome of each state, as an index in `CallingCode.facts`.
    private var outcomes: [UInt16] = []

    /// Parses the file; malformed text ends the process.
    init(_ text: String) {
        let lines = text.utf8.split(separator: UInt8(ascii: "\n")).drop { $0.first == UInt8(ascii: "#") }
            .map { $0.split(separator: UInt8(ascii: " ")).map { String(Substring($0)) } }
        guard let head = lines.first, head.count == 2 else { preconditionFailure("the number plans have no version") }
        (version, date) = (head[0], head[1])
        for words in lines.dropFirst() {
            if let code = Int(words[0]) {
                codes[code] = CallingCode(words.dropFirst())
            } else {
                addState(words)
            }
        }
        let states = codes.compactMap { $0?.start } + next
        precondition(next.count == 10 * outcomes.count && states.allSatisfy { $0 < outcomes.count })
    }

    private mutating func addState(_ words: [String]) {
        outcomes.append(CallingCode.outcome(words[0]))
        for run in words.dropFirst() {
            let parts = run.split(separator: "*").compactMap { UInt16($0) }
            next += repeatElement(parts[0], count: parts.count == 1 ? 1 : Int(parts[1]))
        }
    }

    /// The facts about a number, from its digits with the calling code.
    func facts(of digits: some Sequence<UInt8>) -> NumberFacts {
        var code = 0
        var found: CallingCode?
        var state = 0
        for byte in digits {
            let digit = Int(byte - UInt8(ascii: "0"))
            if found != nil {
                state = Int(next[10 * state + digit])
            } else {
                code = 10 * code + digit
                // No code is a prefix of another one, and none has more than three digits.
                guard code < codes.count else { break }
                found = codes[code]
                state = found.map { Int($0.start) } ?? 0
            }
        }
        guard let found else {
            return NumberFacts(region: .unknown, candidates: [], isValid: false, type: .unknown)
        }
        return found.facts[Int(outcomes[state])]
    }
}

/// A calling code and the outcomes of its numbers.
private struct CallingCode: Sendable {
    /// The state after the calling code alone.
    let start: UInt16

    /// For each region, in the file's order, the facts for each type of number.
    ///
    /// An invalid number gets the region of its calling code, if only one region has that code. A code without a region
    /// has one entry.
    let facts: [NumberFacts]

    init(_ words: some Collection<String>) {
        let regions = words.dropFirst().compactMap { Region($0) }
        guard let start = words.first.flatMap({ UInt16($0) }), regions.count == words.count - 1 else {
            preconditionFailure("a calling code has no state or no regions")
        }
        self.start = start
        let sorted = regions.sorted()
        let invalid = NumberFacts(
            region: regions.count == 1 ? regions[0] : .unknown,
            candidates: sorted,
            isValid: false,
            type: .unknown
        )
        facts = (regions.isEmpty ? [.unknown] : regions).flatMap { region in
            let candidates = regions.isEmpty ? [] : [region]
            return NumberType.allCases.map { type in
                guard type != .unknown else { return invalid }
                return NumberFacts(region: region, candidates: candidates, isValid: true, type: type)
            }
        }
    }

    /// The index in `facts` of an outcome: `-`, a type, or a type with the position of a region, `mobile:2`.
    static func outcome(_ word: String) -> UInt16 {
        let parts = word.split(separator: ":")
        let type = word == "-" ? .unknown : NumberType(rawValue: String(parts[0]))
        guard let place = type.flatMap({ NumberType.allCases.firstIndex(of: $0) }) else {
            preconditionFailure("a state has no outcome")
        }
        let region = parts.count == 2 ? Int(parts[1]) ?? 0 : 0
        return UInt16(region * NumberType.allCases.count + place)
    }
}
