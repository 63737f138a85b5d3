// SPDX-License-Identifier: Apache-2.0

package import Logging

/// One kind of line: a stable name, the severity and message that all of its lines have, and the fields they may have.
///
/// All of them stand in the catalogue; nothing else makes one, so that no call invents a name.
package struct LoggedEvent: Sendable {
    package let name: String
    package let level: Logger.Level

    /// The same in every line: what varies is in the fields.
    package let message: String
    package let fields: [LogField]

    /// The fields that make lines alike: of those that come too fast only the first are written, and then their number.
    ///
    /// Nil where every line counts.
    package let throttledBy: [LogField]?

    /// The time after which a worker writes the line again while it still finds the fault; nil for a line that is
    /// written once.
    ///
    /// An alert that counts such lines looks back for longer, so that it holds as long as the fault.
    package let interval: Duration?

    init(
        _ name: String,
        _ level: Logger.Level,
        _ message: String,
        _ fields: [LogField] = [],
        throttledBy: [LogField]? = nil,
        again interval: Duration? = nil
    ) {
        self.name = name
        self.level = level
        self.message = message
        self.fields = fields
        self.throttledBy = throttledBy
        self.interval = interval
    }
}

extension Logger {
    /// Writes a line; `fields` are made only when its severity is on.
    package func log(_ event: LoggedEvent, _ fields: @autoclosure () -> [LogField: LogValue] = [:]) {
        guard event.level >= logLevel else { return }
        var metadata: Metadata = ["event": .string(event.name)]
        for (field, value) in fields() {
            assert(event.fields.contains(field), "\(event.name) has no field \(field.rawValue)")
            metadata[field.rawValue] = .stringConvertible(value)
        }
        log(level: event.level, .init(stringLiteral: event.message), metadata: metadata)
    }
}
