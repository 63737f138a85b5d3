// SPDX-License-Identifier: Apache-2.0

/// What becomes of a send whose outcome nobody can know.
enum UnknownOutcomeRule: String, Sendable, CaseIterable {
    /// It is not sent again by itself.
    case hold

    /// It gets one more attempt with the same code, for those who prefer at-least-once.
    case resendOnce = "resend_once"
}

/// How much one worker takes on, and how long it waits.
struct WorkerSettings: Sendable, Equatable {
    /// Which of the independent fleets it belongs to: the last byte of every id that it makes.
    var cell: UInt8 = 0

    /// The sends that one worker has claimed at most.
    var maxInFlight = 1024

    /// The records of one intake transaction at most.
    var batchSize = 500

    /// The age from which a request is answered `expired_unsent`.
    var maxRequestAge = Duration.seconds(300)
    var unknownOutcome = UnknownOutcomeRule.hold

    /// How long a claimed send belongs to its worker before another may take it over.
    var lease = Duration.seconds(30)

    /// How long one call to a provider may take, from the connection to the answer's last byte.
    var callDeadline = Duration.seconds(10)

    /// How long a receipt waits for its send.
    var receiptGrace = Duration.seconds(3600)

    /// How long a worker that is told to stop finishes its sends.
    var drainTimeout = Duration.seconds(25)

    /// The file that a running worker writes its state to, for `code-courier health`; nil writes none.
    ///
    /// Its folder must be the worker's alone and is best in memory: the file is replaced every second.
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

    /// A relative path in the file is taken from the file's own folder.
    static func readHealthPath(_ source: ConfigurationSource) -> String? {
        let key = ["worker", "healthPath"]
        guard let origin = source.setting(key)?.origin else { return nil }
        return source.read(key, .text(upTo: 4096)).map { source.resolve($0, at: origin) }
    }

    /// A call must end well before its claim does: half of the lease may be over when it begins.
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
