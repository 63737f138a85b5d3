// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logs
import Providers
import TestSupport
import TestTools
import Testing
import Verification

@testable import CodeCourier

@Suite struct DatabaseFileTests {
    private let folder: ScratchFolder
    private let log = LogRecord()

    init() throws {
        folder = try ScratchFolder()
    }

    /// The database file that a configuration names.
    private func file(_ text: String) throws -> DatabaseFile {
        _ = try folder.write(text, to: "urls")
        let configuration = ExampleFiles.smallest.replacing(/postgres:.*/, with: "postgres: { urlFile: urls }")
        let path = try folder.write(configuration, to: "courier.yaml")
        let postgres = try CourierConfiguration.load(path: path, environment: ExampleFiles.keys).get().postgres
        return DatabaseFile(try #require(postgres.file), uri: postgres.url.revealed, logger: log.logger)
    }

    @Test func `a login that is rotated in the file is taken up at the next connection`() throws {
        let file = try file("postgresql://a:one@h/d\n")
        #expect(file.uri == "postgresql://a:one@h/d")
        _ = try folder.write("postgresql://b:two@h/d?sslmode=require\n", to: "urls")
        #expect(file.uri == "postgresql://b:two@h/d?sslmode=require")
        #expect(log.lines.isEmpty)
    }

    @Test(arguments: [nil, "", "postgresql://a:tw", "postgresql://a:two@", "postgresql://a:two@h/other", "nonsense"])
    func `a file that cannot be used leaves the last one in use, and is told once`(text: String?) throws {
        let file = try file("postgresql://a:one@h/d")
        func put(_ text: String?) throws {
            guard let text else { return try FileManager.default.removeItem(atPath: "\(folder.path)/urls") }
            _ = try folder.write(text, to: "urls")
        }
        try put(text)
        for _ in 1...3 { #expect(file.uri == "postgresql://a:one@h/d") }
        #expect(log.events == ["secrets.refused"])
        #expect(log.values("fault").allSatisfy { $0.contains("postgres.urlFile") && !$0.contains("tw") })
        try put("postgresql://a:three@h/d")
        #expect(file.uri == "postgresql://a:three@h/d")
        try put(text)
        #expect(file.uri == "postgresql://a:three@h/d")
        #expect(log.events.count == 2)
    }
}
