// SPDX-License-Identifier: Apache-2.0

import Verification

/// A phone number and its facts in the numbering plan.
struct ModelLine: Sendable, Equatable {
    let number: String

    /// Several regions when they share the calling code; empty for an unassigned calling code.
    let regions: [String]
    let isValid: Bool
    let type: NumberType

    init(_ number: String, _ regions: [String] = ["DE"], isValid: Bool = true, _ type: NumberType = .mobile) {
        self.number = number
        self.regions = regions
        self.isValid = isValid
        self.type = type
    }

    static let mobiles = [
        ModelLine("+4915100000001"), ModelLine("+4915100000002"), ModelLine("+4915100000003"),
        ModelLine("+4915100000004"),
    ]

    /// Numbers that at least one rule may refuse.
    static let odd = [
        ModelLine("+4930000001", .fixedLine), ModelLine("+12120000001", ["US"], .fixedLineOrMobile),
        ModelLine("+49900000001", .premiumRate), ModelLine("+49180000001", .sharedCost),
        ModelLine("+18000000001", ["US"], .tollFree), ModelLine("+44560000001", ["GB"], .voip),
        ModelLine("+4916000001", .pager), ModelLine("+4970000001", .personalNumber), ModelLine("+4950000001", .uan),
        ModelLine("+4955000001", .voicemail), ModelLine("+4999000001", .unknown),
        ModelLine("+919000000001", ["IN"]), ModelLine("+79000000001", ["KZ", "RU"]), ModelLine("+88300000001", []),
        ModelLine("+4912345671", isValid: false), test, expiringTest,
    ]

    static let test = ModelLine("+16505550123", ["US"], isValid: false, .unknown)
    static let expiringTest = ModelLine("+447700900123", ["GB"])

    private init(_ number: String, _ type: NumberType) {
        self.init(number, ["DE"], type)
    }

    private static let all = Dictionary(uniqueKeysWithValues: (mobiles + odd).map { ($0.number, $0) })

    /// Looks up a number's line; an unlisted number is a German mobile.
    static func of(_ number: String) -> ModelLine { all[number] ?? ModelLine(number) }
}

/// Answers the implementation's number lookups with the model's lines.
struct ModelPlan: NumberDirectory {
    func facts(of number: PhoneNumber) -> NumberFacts {
        let line = ModelLine.of(number.e164)
        let regions = line.regions.compactMap { Region($0) }
        return NumberFacts(
            region: regions.count == 1 ? regions[0] : .unknown,
            candidates: regions,
            isValid: line.isValid,
            type: line.type
        )
    }
}
