// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestTools
import Testing
import Verification

@testable import PhoneNumbers

@Suite struct PlanTableTests {
    /// Numbers with libphonenumber's own answers from the same metadata, written by `make numbers`.
    private static let sample = Result {
        let file = Repository.file("Tests/PhoneNumbersTests/number-sample.txt")
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map { $0.split(separator: " ") }
    }

    @Test func `the answers are libphonenumber's`() throws {
        let sample = try Self.sample.get()
        #expect(sample.first?.dropFirst().first == PlanTable.embedded.version[...])
        let directory = PhoneNumberDirectory()
        for (line, words) in sample.enumerated().dropFirst() {
            let number = try #require(PhoneNumber(String(words[0])))
            let type = try #require(NumberType(rawValue: String(words[2])))
            let regions = words[1].split(separator: ",").compactMap { Region($0) }
            let expected = NumberFacts(
                region: regions.count == 1 ? regions[0] : .unknown,
                candidates: regions,
                isValid: type != .unknown,
                type: type
            )
            #expect(directory.facts(of: number) == expected, "line \(line + 1) of number-sample.txt")
        }
        #expect(sample.count > 5000)
    }

    @Test func `the plans are less than a year old`() throws {
        let table = PlanTable.embedded
        let date = try Date(table.date, strategy: .iso8601.year().month().day())
        #expect(
            Date.now.timeIntervalSince(date) < 365 * 86_400,
            """
            The numbering plans are libphonenumber \(table.version) of \(table.date). Name the newest version of \
            phonenumbers, https://pypi.org/project/phonenumbers, in deploy/local/numbers-requirements.txt and run \
            make numbers.
            """
        )
    }

    @Test func `the regions whose mobiles are in a neighbour's ranges are those that policies treat alike`() throws {
        var regions: Set<Region> = []
        var withMobiles: Set<Region> = []
        for words in try Self.sample.get().dropFirst() {
            let named = words[1].split(separator: ",").compactMap { Region($0) }
            regions.formUnion(named)
            if words[2] == "mobile" || words[2] == "fixedLineOrMobile" { withMobiles.formUnion(named) }
        }
        // Tristan da Cunha has no mobile numbers.
        let without = regions.subtracting(withMobiles).filter { $0.code != "TA" }
        #expect(without == regions.filter { $0.regionOfItsMobiles != $0 })
        #expect(without.count == 8)
    }
}
