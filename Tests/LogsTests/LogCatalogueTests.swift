// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestTools
import Testing

@testable import Logs

@Suite struct `The catalogue of lines` {
    private static let root = Repository.root

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    @Test func `is what its page and its file say`() throws {
        #expect(try Self.text("docs/log-events.md") == LogCatalogue.page, "code-courier log-events --page")
        #expect(try Self.text("schemas/log-events.json") == LogCatalogue.json, "code-courier log-events")
    }

    @Test func `has each name once, in words and dots, and fields that throttling knows`() {
        #expect(Set(LoggedEvent.all.map(\.name)).count == LoggedEvent.all.count)
        for event in LoggedEvent.all {
            #expect(event.name.wholeMatch(of: /[a-z]+(_[a-z]+)*(\.[a-z]+(_[a-z]+)*)+/) != nil, "\(event.name)")
            #expect(Set(event.fields).count == event.fields.count, "\(event.name)")
            #expect(Set(event.throttledBy ?? []).isSubset(of: event.fields), "\(event.name)")
            #expect(Set(event.throttledBy ?? []).isSubset(of: LoggedEvent.logSuppressed.fields), "\(event.name)")
        }
    }

    @Test func `has no field that no event has`() {
        let used = Set(LoggedEvent.all.flatMap(\.fields))
        // The format itself sets this field.
        #expect(LogField.allCases.filter { !used.contains($0) } == [.truncated])
    }

    @Test func `has no line that no code writes, and no code writes any other`() throws {
        let files = try Self.sources()
        let texts = try files.map { try String(contentsOf: $0, encoding: .utf8) }
        let catalogue = zip(files, texts).filter { Self.isOfCatalogue($0.0) }.map(\.1).joined()
        let names = catalogue.matches(of: /package (?:static )?let (\w+)(?: =|:) LoggedEvent/).map { String($0.1) }
        // The catalogue has a consumer's lines once, for both consumers.
        let count = names.count + LoggedEvent.Consumer.receipts.all.count
        #expect(LoggedEvent.all.count == count, "each of the catalogue is in `all`")
        let code = zip(files, texts).filter { !Self.isOfCatalogue($0.0) }
        let written = Set(code.flatMap { Self.written(in: $0.1) })
        for name in names { #expect(written.contains(name), "\(name) is written nowhere") }
        for (file, text) in code where !file.path.contains("/Sandbox/") && !file.path.contains("/Logs/") {
            let direct = text.firstMatch(of: /logger\.(trace|debug|info|notice|warning|error|critical)\(/)
            #expect(direct == nil, "\(file.lastPathComponent) writes a line outside of the catalogue")
        }
    }

    private static func isOfCatalogue(_ file: URL) -> Bool { file.path.contains("/Sources/Logs/Catalogue/") }

    /// The event names in the arguments of log calls, and in expressions that choose an event.
    private static func written(in text: String) -> [String] {
        let places = /(?:logger\.log\(|\bbytes\(|: LoggedEvent =\s*switch |= LoggedEvent)([^\[\])}]*)/
        return text.matches(of: places).flatMap { place in place.1.matches(of: /\.(\w+)/).map { String($0.1) } }
    }

    private static func sources() throws -> [URL] {
        let files = FileManager.default.enumerator(at: root.appending(path: "Sources"), includingPropertiesForKeys: nil)
        return try #require(files).compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
    }
}
