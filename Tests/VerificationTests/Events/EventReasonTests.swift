// SPDX-License-Identifier: Apache-2.0

import Formats
import Foundation
import TestSupport
import TestTools
import Testing
import Verification

/// Compares the reasons that events can have with the published lists.
@Suite struct EventReasonTests {
    /// A reason of a list, under its status.
    private struct Entry: Hashable {
        let status: String
        let word: String

        init(_ status: some StringProtocol, _ word: some StringProtocol) {
            (self.status, self.word) = (String(status), String(word))
        }
    }

    private static let possible = Set(EventReason.allCases.map { Entry($0.status?.rawValue ?? "any status", $0.word) })

    /// Words that both lists reserve for later versions.
    private static let reserved: Set = ["quota_region"]

    @Test func `the schema has every reason under its status, and reserves the others`() throws {
        let bytes = try Data(contentsOf: DeliverySchema.folder.appending(path: "delivery.schema.json"))
        guard case .object(let schema) = try JSONScanner.parse(Array(bytes)),
            case .object(let properties)? = schema["properties"], case .object(let reason)? = properties["reason"]
        else {
            Issue.record("the schema has no reason")
            return
        }
        let lists = try #require(reason.text("description")).split(separator: ".").compactMap { sentence in
            let parts = sentence.split(separator: ":")
            return parts.count == 2 ? (parts[0].drop { $0 == " " }, parts[1].split(separator: ",")) : nil
        }
        let listed = lists.flatMap { status, words in words.map { Entry(status, $0.drop { $0 == " " }) } }
        #expect(Set(listed) == Self.possible.union(Self.reserved.map { Entry("Reserved", $0) }))
        #expect(Set(listed).count == listed.count)
    }

    @Test func `the page explains every reason under its status, and marks the reserved ones`() throws {
        let page = try String(contentsOf: Repository.file("docs/reasons.md"), encoding: .utf8)
        var status = ""
        var explained: Set<Entry> = []
        var marked: Set<String> = []
        for line in page.split(separator: "\n") {
            if line.hasPrefix("## ") { status = String(line.dropFirst(3)) }
            guard line.hasPrefix("| `") else { continue }
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            #expect(cells.count == 6 && !cells.contains(""), "\(line)")
            let word = cells[0].split(separator: "`")[0]
            if cells[0].hasSuffix("¹") {
                marked.insert(String(word))
            } else {
                #expect(explained.insert(Entry(status, word)).inserted, "\(line)")
            }
        }
        #expect(explained == Self.possible)
        #expect(marked == Self.reserved)
    }
}
