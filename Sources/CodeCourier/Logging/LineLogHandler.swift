// SPDX-License-Identifier: Apache-2.0

import Courier
import Foundation
import Logging
import Verification

/// One log entry a line on standard output.
///
/// Values are escaped and cut, so that nothing in a request can begin a line of its own or fill the log.
struct LineLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level
    private let format: LogFormat

    /// The longest value in a line, in bytes.
    private static let longestValue = 512

    init(format: LogFormat, level: Logger.Level) {
        self.format = format
        logLevel = level
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var fields = metadata.merging(event.metadata ?? [:]) { _, newer in newer }
        let name = fields.removeValue(forKey: "event").map { "\($0)" } ?? "log"
        let values = fields.sorted { $0.key < $1.key }.map { ($0.key, Self.cut("\($0.value)")) }
        let line =
            switch format {
            case .json: Self.json(event.level, name, "\(event.message)", values)
            case .text: Self.text(event.level, name, "\(event.message)", values)
            }
        FileHandle.standardOutput.write(Data(line))
    }

    private static func json(
        _ level: Logger.Level,
        _ name: String,
        _ message: String,
        _ values: [(String, String)]
    ) -> [UInt8] {
        var writer = JSONWriter(reserving: 256)
        writer.object { line in
            line.member("timestamp", Timestamp.now.rfc3339)
            line.member("severity", level.rawValue)
            line.member("event", name)
            line.member("message", cut(message))
            for (key, value) in values { line.member(key, value) }
        }
        return writer.bytes + [UInt8(ascii: "\n")]
    }

    private static func text(
        _ level: Logger.Level,
        _ name: String,
        _ message: String,
        _ values: [(String, String)]
    ) -> [UInt8] {
        let time = Timestamp.now.rfc3339.dropFirst(11).dropLast(1)
        let fields = values.map { "\($0.0)=\($0.1)" }.joined(separator: " ")
        let line = "\(time) \(level.rawValue.uppercased()) \(name): \(cut(message)) \(fields)"
        return line.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : String($0) }.joined().utf8
            + [UInt8(ascii: "\n")]
    }

    private static func cut(_ value: String) -> String {
        value.utf8.count <= longestValue
            ? value : String(decoding: value.utf8.prefix(longestValue), as: UTF8.self) + "…"
    }
}
