// SPDX-License-Identifier: Apache-2.0

import Logging
import Logs

/// Settings of the log.
struct LogSettings: Sendable, Equatable {
    /// The minimum severity of logged entries.
    var level = Logger.Level.info

    /// Nil when not configured: then JSON on a pipe and text on a terminal.
    var format: LogFormat?

    /// The interval of `worker.stats`.
    var statsInterval = Duration.seconds(10)
}

extension LogSettings {
    /// Other programs' names for the levels.
    private static let levels: [String: Logger.Level] = [
        "warn": .warning, "err": .error, "crit": .critical, "fatal": .critical, "information": .info,
        "informational": .info, "verbose": .debug,
    ]

    /// Other programs' names for the formats.
    private static let formats: [String: LogFormat] = [
        "plain": .text, "console": .text, "pretty": .text, "opentelemetry": .otel, "otlp": .otel,
    ]

    static func read(_ source: ConfigurationSource) -> LogSettings {
        var settings = LogSettings()
        if let level = source.read(["log", "level"], .choice(synonyms: levels)) { settings.level = level }
        settings.format = source.read(["log", "format"], .choice(synonyms: formats))
        let intervals = Duration.seconds(1)...Duration.seconds(3600)
        if let interval = source.read(["log", "statsInterval"], .duration(in: intervals)) {
            settings.statsInterval = interval
        }
        return settings
    }
}
