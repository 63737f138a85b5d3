// SPDX-License-Identifier: Apache-2.0

import CPhoneNumbers
import Foundation
import PhoneNumbers
import Testing
import Verification

@Suite struct PhoneNumberLookupTests {
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
        #expect(!facts.valid && facts.candidate_count == 0)
    }
}
