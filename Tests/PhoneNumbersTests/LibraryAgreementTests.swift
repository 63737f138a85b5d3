// SPDX-License-Identifier: Apache-2.0

import CPhoneNumbers
import PhoneNumberLibrary
import TestTools
import Testing

/// The patterns are libphonenumber's and the order in which they are asked is copied from it: so are the answers.
@Suite struct LibraryAgreementTests {
    private struct Number: Hashable {
        var code: Int32
        var national: [UInt8]
    }

    private struct Answer: Hashable {
        let type: PhoneNumbersType
        let region: String
    }

    /// The library's own example of every region and type.
    private static let examples: [Number] = {
        var examples: [Number] = []
        var code: Int32 = 0
        var national = [CChar](repeating: 0, count: 32)
        while phone_number_library_example(examples.count, &code, &national) {
            let digits = national.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            examples.append(Number(code: code, national: digits))
        }
        return examples
    }()

    /// What this project's lookup says; nil for what it does not take for a number at all.
    private func found(_ number: Number) -> Answer? {
        let text = "+\(number.code)".utf8.map { CChar(bitPattern: $0) } + number.national.map { CChar(bitPattern: $0) }
        guard (8...16).contains(text.count) else { return nil }
        var facts = PhoneNumbersFacts()
        guard phone_numbers_find_facts(text, text.count, &facts) else { return nil }
        let region = withUnsafeBytes(of: facts.region) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        return Answer(type: facts.type, region: facts.valid ? region : "")
    }

    private func expected(_ number: Number) -> Answer {
        // Mexico has given up this prefix, which the library's metadata still have.
        if number.code == 52, number.national.first == UInt8(ascii: "1") { return Answer(type: .unknown, region: "") }
        let text = number.national.map { CChar(bitPattern: $0) } + [0]
        let answer = phone_number_library_find(number.code, text)
        let region = withUnsafeBytes(of: answer.region) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        return Answer(type: PhoneNumbersType(ofLibrary: answer.type), region: region == "001" ? "" : region)
    }

    @Test func `the library's examples are what it says they are`() {
        #expect(Self.examples.count > 1000)
        for example in Self.examples {
            guard let found = found(example) else { continue }
            #expect(found == expected(example), "+\(example.code), \(example.national.count) digits")
            #expect(found.type != .unknown || example.code == 52)
        }
    }

    @Test func `numbers near the examples are what the library says of them`() {
        var dice = TestSeed("library agreement")
        var known = 0
        for _ in 0..<25_000 {
            var number = Self.examples[dice.below(Self.examples.count)]
            for _ in 0..<dice.below(4) where !number.national.isEmpty {
                number.national[dice.below(number.national.count)] = UInt8(ascii: "0") + UInt8(dice.below(10))
            }
            switch dice.below(16) {
            case 0: number.national.append(UInt8(ascii: "0") + UInt8(dice.below(10)))
            case 1: number.national.removeLast()
            default: break
            }
            guard let found = found(number) else { continue }
            known += found.type == .unknown ? 0 : 1
            #expect(found == expected(number), "+\(number.code) of COURIER_TEST_SEED=\(dice.seed)")
        }
        #expect(known > 7500)
    }
}

extension PhoneNumbersType {
    /// PhoneNumberUtil::PhoneNumberType, in the library's order.
    fileprivate init(ofLibrary number: Int32) {
        let types: [PhoneNumbersType] = [
            .fixedLine, .mobile, .fixedLineOrMobile, .tollFree, .premiumRate, .sharedCost, .voIP, .personalNumber,
            .pager, .UAN, .voicemail, .unknown,
        ]
        self = types[Int(number)]
    }
}
