// SPDX-License-Identifier: Apache-2.0

import Formats
import Foundation
import SettingsReading
import Verification

/// Builds the record of a request that is explained and never sent.
enum ExplainedRecord {
    /// A record with the value; a `specversion` member marks a CloudEvent in structured mode.
    static func make(value: [UInt8], at now: Timestamp) -> InboundRecord {
        var headers: [RecordField] = []
        if case .object(let object)? = try? JSONScanner.parse(value), object["specversion"] != nil {
            headers = [RecordField(name: "content-type", value: Array("application/cloudevents+json".utf8))]
        }
        return InboundRecord(
            topic: "explained",
            partition: 0,
            offset: 0,
            timestamp: now,
            key: nil,
            value: value,
            headers: headers
        )
    }

    /// The bytes of a file, or of standard input for `-`.
    static func read(_ path: String) throws -> [UInt8] {
        do {
            if path == "-" { return Array(try FileHandle.standardInput.readToEnd() ?? Data()) }
            return Array(try TextFile.read(path, maximumBytes: YAMLDocument.maximumBytes).utf8)
        } catch let unreadable as TextFile.Unreadable {
            throw StartFailure.report(["\(path) \(unreadable.reason)"])
        } catch {
            throw StartFailure.report(["standard input cannot be read"])
        }
    }
}
