// SPDX-License-Identifier: Apache-2.0

/// What becomes of a send whose outcome nobody can know.
package enum UnknownOutcomeRule: String, Sendable, CaseIterable {
    /// It is not sent again by itself.
    case hold

    /// It gets one more attempt with the same code, for those who prefer at-least-once.
    case resendOnce = "resend_once"
}

/// How much one worker takes on, and how long it waits.
package struct WorkerSettings: Sendable, Equatable {
    /// The sends that one worker has claimed at most.
    package var maxInFlight = 1024

    /// The records of one intake transaction at most.
    package var batchSize = 500

    /// The age from which a request is answered `expired_unsent`.
    package var maxRequestAge = Duration.seconds(300)
    package var unknownOutcome = UnknownOutcomeRule.hold

    /// How long a worker that is told to stop finishes its sends.
    package var drainTimeout = Duration.seconds(25)
}

extension WorkerSettings {
    static func read(_ source: ConfigurationSource) -> WorkerSettings {
        var settings = WorkerSettings()
        if let count = source.read(["worker", "maxInFlight"], .integer(in: 1...100_000)) {
            settings.maxInFlight = count
        }
        if let count = source.read(["worker", "batchSize"], .integer(in: 1...10_000)) { settings.batchSize = count }
        let ages = Duration.seconds(1)...Duration.seconds(86_400)
        if let age = source.read(["worker", "maxRequestAge"], .duration(in: ages)) { settings.maxRequestAge = age }
        if let rule = source.read(["worker", "unknownOutcome"], ValueRule<UnknownOutcomeRule>.choice) {
            settings.unknownOutcome = rule
        }
        let timeouts = Duration.milliseconds(100)...Duration.seconds(3600)
        if let time = source.read(["worker", "drainTimeout"], .duration(in: timeouts)) { settings.drainTimeout = time }
        return settings
    }
}
