// SPDX-License-Identifier: Apache-2.0

import CPhoneNumbers
import Foundation
import PhoneNumbers
import Testing
import Verification

/// One test at a time, so that the time printed is not that of a thread waiting for a core.
@Suite(.serialized) struct PhoneNumberLookupTests {
    private static let lookups = 10_000

    private static let numbers = (Example.plain + Example.shared + Example.rare).compactMap { PhoneNumber($0.number) }

    /// Looks up `lookups` numbers, starting at a place of its own so that threads meet on different ones.
    ///
    /// Returns how many answers differ from the expected.
    private static func differences(from expected: [PhoneNumber: NumberFacts], start: Int) -> Int {
        let directory = PhoneNumberDirectory()
        return (0..<lookups).count { index in
            let number = numbers[(start + index) % numbers.count]
            return directory.facts(of: number) != expected[number]
        }
    }

    @Test func `eight threads get the answers of one`() async {
        let directory = PhoneNumberDirectory()
        let expected = Dictionary(
            Self.numbers.map { ($0, directory.facts(of: $0)) },
            uniquingKeysWith: { first, _ in first }
        )
        let differences = await withTaskGroup(of: Int.self) { group in
            for index in 0..<8 {
                group.addTask {
                    // A thread each: the cooperative pool has as many as cores.
                    await withCheckedContinuation { continuation in
                        Thread { continuation.resume(returning: Self.differences(from: expected, start: index * 31)) }
                            .start()
                    }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(differences == 0)
    }

    @Test func `a lookup's time is printed`() {
        let directory = PhoneNumberDirectory()
        var valid = 0
        let rounds = (0..<3).map { _ in
            ContinuousClock().measure {
                valid += (0..<Self.lookups).count { directory.facts(of: Self.numbers[$0 % Self.numbers.count]).isValid }
            }
        }
        let best = rounds.min().map { Int($0 / Self.lookups / .nanoseconds(1)) } ?? 0
        print("phone number lookup: \(best) ns")
        #expect(valid == rounds.count * Self.lookups)
    }

    @Test(arguments: [
        "", "+", "447400123456", "+0447400123", "+44 7400 123456", "+1800FLOWERS", "+4474001\u{0}3456", "+١٢٣٤٥٦٧٨",
        "+4474001234567890", "tel:+447400123456", "+44740012345;ext=1",
    ])
    func `bytes that are no number have no facts`(text: String) {
        #expect(PhoneNumber(text) == nil)
        var facts = PhoneNumbersFacts()
        let bytes = text.utf8.map { CChar(bitPattern: $0) }
        let answered = phone_numbers_find_facts(bytes, bytes.count, &facts)
        #expect(answered)
        #expect(!facts.valid && !facts.possible && facts.calling_code == 0 && facts.candidate_count == 0)
    }

    @Test func `possible is weaker than valid`() {
        var facts = PhoneNumbersFacts()
        #expect(phone_numbers_find_facts("+447700900123", 13, &facts))
        #expect(facts.possible && !facts.valid && facts.calling_code == 44)
        #expect(phone_numbers_find_facts("+44740012345678", 15, &facts))
        #expect(!facts.possible && !facts.valid && facts.calling_code == 44)
    }
}
