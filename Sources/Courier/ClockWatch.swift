// SPDX-License-Identifier: Apache-2.0

import Formats
package import Logging
import Logs
import ServiceLifecycle
import Verification

/// Compares the worker's clock with the database's at intervals, since clocks are changed and machines sleep.
///
/// Holds new work back while the clock is more than a minute off.
package struct ClockWatch: Service {
    private let pipeline: Pipeline
    private let start: Duration
    private let lead: @Sendable () async -> Duration?
    private let logger: Logger
    private let interval: Duration
    private let shortInterval: Duration

    /// Makes a watch whose first reading is the lead found at the worker's start.
    ///
    /// `lead` returns the clock's lead over the database's clock; nil when the database does not answer.
    /// `shortInterval` is the time between two readings while the clock holds work back.
    package init(
        _ pipeline: Pipeline,
        start: Duration,
        lead: @escaping @Sendable () async -> Duration?,
        every interval: Duration = .seconds(60),
        shortInterval: Duration = .seconds(5),
        logger: Logger
    ) {
        self.pipeline = pipeline
        self.start = start
        self.lead = lead
        self.interval = interval
        self.shortInterval = shortInterval
        self.logger = logger
        pipeline.hold(ClockState.Step(start) == .held)
    }

    package func run() async throws {
        var standing = ClockState()
        var found: Duration? = start
        while true {
            if let found { take(found, &standing) }
            await Task.pause(until: .now + (standing.step == .held ? shortInterval : interval))
            if Task.isStopping { return await waitForShutdown() }
            found = await confirmedLead()
        }
    }

    /// Reads the lead twice before it counts as wrong, since the clock may be changed in the middle of a reading.
    private func confirmedLead() async -> Duration? {
        guard let first = await lead() else { return nil }
        if ClockState.Step(first) == .right { return first }
        guard let second = await lead() else { return nil }
        return ClockState.distance(second) < ClockState.distance(first) ? second : first
    }

    private func take(_ found: Duration, _ standing: inout ClockState) {
        let step = standing.take(found, at: .now)
        pipeline.hold(standing.step == .held)
        guard let step else { return }
        let event: LoggedEvent =
            switch step {
            case .right: .clockRight
            case .off: .clockOff
            case .held: .clockHeld
            }
        logger.log(event, [.leadMilliseconds: .integer(found.microseconds / 1000)])
    }
}

/// The state of a worker's clock, and the decision when to log it; pure, without a clock of its own.
struct ClockState {
    enum Step: Equatable {
        case right

        /// More than 5 s off: logged.
        case off

        /// More than a minute off: no request is decided, since the ids would hold a wrong time and the database drops
        /// rows by the time in their ids.
        case held

        init(_ lead: Duration) {
            switch ClockState.distance(lead) {
            case ...Duration.seconds(5): self = .right
            case ...Duration.seconds(60): self = .off
            default: self = .held
            }
        }
    }

    /// Time between two log lines about a clock that stays wrong: an alert lasts as long as work is held back.
    private static func pause(_ step: Step) -> Duration { .seconds(step == .held ? 30 : 600) }

    private(set) var step = Step.right
    private var reportedAt: ContinuousClock.Instant?

    static func distance(_ lead: Duration) -> Duration { max(lead, .zero - lead) }

    /// Records a measured lead; returns the step to log, if any.
    mutating func take(_ lead: Duration, at now: ContinuousClock.Instant) -> Step? {
        let before = step
        step = Step(lead)
        if step == before {
            guard step != .right, let reportedAt, now - reportedAt >= Self.pause(step) else { return nil }
        }
        reportedAt = now
        return step
    }
}
