// SPDX-License-Identifier: Apache-2.0

import Formats

/// The rule for a send whose outcome is unknown.
enum UnknownOutcomeRule: String, Sendable, CaseIterable {
    /// The send is not repeated.
    case hold

    /// The send gets one more attempt with the same code: at-least-once delivery.
    case resendOnce = "resend_once"
}

/// The limits and times of one worker.
struct WorkerSettings: Sendable, Equatable {
    /// The cell, one of the independent fleets: the last byte of every id that the worker makes.
    var cell: UInt8 = 0

    /// The maximum number of sends that one worker has claimed.
    var maxInFlight = 1024

    /// The maximum number of records in one intake transaction.
    var batchSize = 500

    /// The age from which a request is answered with `expired_unsent`.
    var maxRequestAge = Duration.seconds(300)
    var unknownOutcome = UnknownOutcomeRule.hold

    /// The lease of a claimed send, after which another worker may take it over.
    var lease = Duration.seconds(30)

    /// The deadline of one call to a provider, from the connection to the answer's last byte.
    var callDeadline = Duration.seconds(10)

    /// The time that a receipt waits for its send.
    var receiptGrace = Duration.seconds(3600)

    /// The time that a worker has to finish its sends after a signal to stop.
    var drainTimeout = Duration.seconds(25)

    /// The file for the state of a running worker, read by `code-courier health`; nil for none.
    ///
    /// Its folder must belong to the worker alone and is best in memory: the file is replaced every second.
    var healthPath: String?
}

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
