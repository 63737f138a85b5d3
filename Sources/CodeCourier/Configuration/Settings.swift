// SPDX-License-Identifier: Apache-2.0

import Logging
import Logs
import SettingsReading
import Verification

/// The values of the declared settings, except secrets and providers.
struct Settings {
    var kafka = KafkaSettings()

    /// The path of the policy file.
    var policyPath: String?
    var worker = WorkerSettings()
    var log = LogSettings()

    /// Reads the settings of some sections of the file; the others have their defaults.
    static func read(
        _ source: ConfigurationSource,
        _ sections: Set<String> = Set(FileSettings.sectionNames)
    ) -> Settings {
        var settings = Settings()
        for setting in Setting.declared where sections.contains(setting.key[0]) { setting.read(source, &settings) }
        if sections.contains("worker") { settings.worker.reportShortLease(source) }
        if sections.contains("kafka") {
            settings.kafka.topics.reportShared(source)
            settings.kafka.options = KafkaSettings.options(source)
        }
        return settings
    }
}

extension WorkerSettings {
    /// Reports a lease that leaves too little time for a call: the call may begin when half of the lease has passed.
    fileprivate func reportShortLease(_ source: ConfigurationSource) {
        guard callDeadline * 5 / 2 > lease else { return }
        let keys = [["worker", "lease"], ["worker", "callDeadline"]]
        guard let key = keys.first(where: { source.setting($0) != nil }) else { return }
        source.report(key, "leaves too little time; the lease must be 2.5 call deadlines")
    }
}

/// Settings of the log.
struct LogSettings: Sendable, Equatable {
    /// The minimum severity of logged entries.
    var level = Logger.Level.info

    /// Nil when not configured: then JSON on a pipe and text on a terminal.
    var format: LogFormat?

    /// The interval of `worker.stats`.
    var statsInterval = Duration.seconds(10)

    /// Other programs' names for the levels.
    static let levels: [String: Logger.Level] = [
        "warn": .warning, "err": .error, "crit": .critical, "fatal": .critical, "information": .info,
        "informational": .info, "verbose": .debug,
    ]

    /// Other programs' names for the formats.
    static let formats: [String: LogFormat] = [
        "plain": .text, "console": .text, "pretty": .text, "opentelemetry": .otel, "otlp": .otel,
    ]
}
