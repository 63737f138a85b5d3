// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import Foundation
import TestSupport
import TestTools
import Testing

/// Tests that the checks at the end of every fleet can fail.
@Suite struct Checkers {
    @Test func `a number and a code are found in a log, and digits by chance are not`() {
        let secrets = Secrets(numbers: ["+4915123456789"], codes: ["123456"], others: ["password"])
        let harmless =
            #"{"timestamp":"2026-11-20T10:00:00.123456Z","id":"0191-123456-ab","n":1234567,"to":"+4********6789"}"#
        #expect(secrets.shown(in: harmless) == [])
        #expect(secrets.shown(in: #""body":"123456 is your code""#).count == 1)
        #expect(secrets.shown(in: #""body":"your code: 123456.""#).count == 1)
        #expect(secrets.shown(in: #""to":"+4915123456789""#).count == 1)
        #expect(secrets.shown(in: "To=%2B4915123456789&From").count == 1)
        #expect(secrets.shown(in: "postgresql://user:password@host").count == 1)
        let figures = #"{"event":"worker.stats","uptime_ms":123456}"#
        let lines = [figures, #"{"event":"send.done","note":"123456"}"#, #"{"event":"worker.stats","a":"password"}"#]
        #expect(secrets.shown(inLog: lines.joined(separator: "\n")) == ["a code in 123456", "a secret"])
    }

    @Test func `valid examples of events pass the schema, and each invalid one is found`() throws {
        var schema = try DeliverySchema()
        let folder = DeliverySchema.folder.appending(path: "examples")
        var counts = (valid: 0, invalid: 0)
        for file in try files(in: folder) {
            #expect(try schema.violations(of: file.bytes) == [], "\(file.name)")
            counts.valid += 1
        }
        for file in try files(in: folder.appending(path: "invalid")) {
            #expect(try schema.violations(of: file.bytes) != [], "\(file.name)")
            counts.invalid += 1
        }
        #expect(counts.valid > 5)
        #expect(counts.invalid > 3)
    }

    private func files(in folder: URL) throws -> [(name: String, bytes: [UInt8])] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        return try names.filter { $0.hasPrefix("delivery.") }.sorted().map { name in
            (name, Array(try Data(contentsOf: folder.appending(path: name))))
        }
    }
}
