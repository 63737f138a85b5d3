// SPDX-License-Identifier: Apache-2.0

import Logging

/// Connects swift-log to an output; a message without an event of the catalogue is a library's.
struct LineLogHandler: LogHandler {
    let output: LogOutput
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level

    init(output: LogOutput, logLevel: Logger.Level) {
        self.output = output
        self.logLevel = logLevel
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event line: LogEvent) {
        guard case .string(let name)? = line.metadata?["event"], let event = LoggedEvent.named[name] else {
            output.write(message: "\(line.message)", level: line.level)
            return
        }
        var fields: [LogMember] = []
        for (name, value) in line.metadata ?? [:] {
            guard case .stringConvertible(let value) = value, let value = value as? LogValue else { continue }
            fields.append(LogMember(name, value))
        }
        output.write(event, fields: fields)
    }
}
