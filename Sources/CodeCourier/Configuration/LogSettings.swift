// SPDX-License-Identifier: Apache-2.0

/// The least severity that is logged, in swift-log's words.
package enum LogLevel: String, Sendable, CaseIterable {
    case trace
    case debug
    case info
    case notice
    case warning
    case error
    case critical
}

package enum LogFormat: String, Sendable, CaseIterable {
    case json
    case text
}

/// What is logged and how.
package struct LogSettings: Sendable, Equatable {
    package var level = LogLevel.info

    /// Nil when not stated: then JSON on a pipe and text on a terminal.
    package var format: LogFormat?
}

extension LogSettings {
    static func read(_ source: ConfigurationSource) -> LogSettings {
        var settings = LogSettings()
        if let level = source.read(["log", "level"], ValueRule<LogLevel>.choice) { settings.level = level }
        settings.format = source.read(["log", "format"], ValueRule<LogFormat>.choice)
        return settings
    }
}
