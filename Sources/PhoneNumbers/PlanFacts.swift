// SPDX-License-Identifier: Apache-2.0

import CPhoneNumbers
import Verification

/// The answer of the C library as Swift values.
struct PlanFacts {
    /// The region from the whole number, or from a calling code that only one region has; nil when neither tells one.
    ///
    /// Where regions share a calling code it is the first of them whose plan has the number: mobile numbers of BL and MF
    /// are GP's, since nothing in them tells the three apart.
    let region: Region?

    let isValid: Bool
    let type: NumberType

    /// False after an exception inside, which leaves the facts of an unknown number: no policy lets it through.
    let isAnswered: Bool

    private let facts: PhoneNumbersFacts

    init(e164: String) {
        var facts = PhoneNumbersFacts()
        var text = e164
        isAnswered = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { characters in
                guard let start = characters.baseAddress else { return false }
                return phone_numbers_find_facts(start, characters.count, &facts)
            }
        }
        self.facts = facts
        region = withUnsafeBytes(of: facts.region) { Region(letters: $0) }
        isValid = facts.valid
        type = NumberType(facts.type)
    }

    /// Every region that shares the calling code, sorted.
    var regionsOfCallingCode: [Region] {
        let width = MemoryLayout.size(ofValue: facts.region)
        return withUnsafeBytes(of: facts.candidates) { bytes in
            (0..<Int(facts.candidate_count)).compactMap { Region(letters: bytes.dropFirst($0 * width)) }
        }
    }
}

extension Region {
    /// A region from its two letters, or nil from the NUL that stands for none.
    fileprivate init?(letters: some Collection<UInt8>) {
        self.init(String(decoding: letters.prefix(2), as: UTF8.self))
    }
}

extension NumberType {
    fileprivate init(_ type: PhoneNumbersType) {
        self =
            switch type {
            case .unknown: .unknown
            case .mobile: .mobile
            case .fixedLine: .fixedLine
            case .fixedLineOrMobile: .fixedLineOrMobile
            case .tollFree: .tollFree
            case .premiumRate: .premiumRate
            case .sharedCost: .sharedCost
            case .voIP: .voip
            case .personalNumber: .personalNumber
            case .pager: .pager
            case .UAN: .uan
            case .voicemail: .voicemail
            }
    }
}
