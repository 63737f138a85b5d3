// SPDX-License-Identifier: Apache-2.0

import Verification

extension WorkerSettings {
    static func read(_ source: ConfigurationSource) -> WorkerSettings {
        var settings = WorkerSettings()
        if let cell = source.read(["worker", "cell"], .integer(in: 0...255)) { settings.cell = UInt8(cell) }
        if let count = source.read(["worker", "maxInFlight"], .integer(in: 1...100_000)) {
            settings.maxInFlight = count
        }
        if let count = source.read(["worker", "batchSize"], .integer(in: 1...10_000)) { settings.batchSize = count }
        let ages = Duration.seconds(1)...Duration.seconds(86_400)
        if let age = source.read(["worker", "maxRequestAge"], .duration(in: ages)) { settings.maxRequestAge = age }
        if let rule = source.read(["worker", "unknownOutcome"], ValueRule<UnknownOutcomeRule>.choice) {
            settings.unknownOutcome = rule
        }
        readLease(source, &settings)
        let graces = Duration.seconds(1)...Duration.seconds(86_400)
        if let time = source.read(["worker", "receiptGrace"], .duration(in: graces)) { settings.receiptGrace = time }
        let timeouts = Duration.milliseconds(100)...Duration.seconds(3600)
        if let time = source.read(["worker", "drainTimeout"], .duration(in: timeouts)) { settings.drainTimeout = time }
        settings.healthPath = readHealthPath(source)
        return settings
    }

    /// Reads the path; a relative path in the file starts at the file's own folder.
    static func readHealthPath(_ source: ConfigurationSource) -> String? {
        let key = ["worker", "healthPath"]
        guard let origin = source.setting(key)?.origin else { return nil }
        return source.read(key, .text(upTo: 4096)).map { source.resolve($0, at: origin) }
    }

    /// At least a day: a request may be that old and a receipt may wait that long, and both must find their rows.
    static func readRetention(_ source: ConfigurationSource) -> Duration? {
        source.read(["postgres", "retention"], .duration(in: Duration.seconds(86_400)...DurationText.longest))
    }

    /// A call must end well before its lease does: up to half of the lease may have passed when it begins.
    private static func readLease(_ source: ConfigurationSource, _ settings: inout WorkerSettings) {
        let leases = Duration.seconds(2)...Duration.seconds(600)
        if let lease = source.read(["worker", "lease"], .duration(in: leases)) { settings.lease = lease }
        let deadlines = Duration.milliseconds(500)...Duration.seconds(60)
        if let deadline = source.read(["worker", "callDeadline"], .duration(in: deadlines)) {
            settings.callDeadline = deadline
        }
        guard settings.callDeadline * 5 / 2 > settings.lease else { return }
        for key in [["worker", "lease"], ["worker", "callDeadline"]] {
            guard let setting = source.setting(key) else { continue }
            source.report(key, at: setting.origin, "leaves too little time; the lease must be 2.5 call deadlines")
            return
        }
    }
}
