// SPDX-License-Identifier: Apache-2.0

package import Logs

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

/// What is logged and how.
package struct LogSettings: Sendable, Equatable {
    package var level = LogLevel.info

    /// Nil when not stated: then JSON on a pipe and text on a terminal.
    package var format: LogFormat?

    /// How often `worker.stats` is written.
    package var statsInterval = Duration.seconds(10)
}

extension LogSettings {
    static func read(_ source: ConfigurationSource) -> LogSettings {
        var settings = LogSettings()
        if let level = source.read(["log", "level"], ValueRule<LogLevel>.choice) { settings.level = level }
        settings.format = source.read(["log", "format"], ValueRule<LogFormat>.choice)
        let intervals = Duration.seconds(1)...Duration.seconds(3600)
        if let interval = source.read(["log", "statsInterval"], .duration(in: intervals)) {
            settings.statsInterval = interval
        }
        return settings
    }
}
