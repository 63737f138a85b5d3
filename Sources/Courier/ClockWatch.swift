// SPDX-License-Identifier: Apache-2.0

package import Logging
import Logs
import ServiceLifecycle
import Verification

/// Compares the worker's clock with the database's while it works: clocks are set, and machines sleep.
///
/// It holds new work back while the clock is more than a minute off.
package struct ClockWatch: Service {
    private let courier: Courier
    private let start: Duration
    private let lead: @Sendable () async -> Duration?
    private let logger: Logger
    private let interval: Duration
    private let shortInterval: Duration

    /// A watch that begins with the lead that was found at the worker's start.
    ///
    /// `lead` tells how far the clock is ahead of the database's; nil when that does not answer. `shortInterval` is the time until the next look at a clock that holds work back.
    package init(
        _ courier: Courier,
        start: Duration,
        lead: @escaping @Sendable () async -> Duration?,
        every interval: Duration = .seconds(60),
        shortInterval: Duration = .seconds(5),
        logger: Logger
    ) {
        self.courier = courier
        self.start = start
        self.lead = lead
        self.interval = interval
        self.shortInterval = shortInterval
        self.logger = logger
        courier.hold(ClockStanding.Step(start) == .held)
    }

    package func run() async throws {
        var standing = ClockStanding()
        var found: Duration? = start
        while true {
            if let found { take(found, &standing) }
            await Task.pause(until: .now + (standing.step == .held ? shortInterval : interval))
            if Task.isStopping { return await waitForShutdown() }
            found = await confirmedLead()
        }
    }

    /// A clock counts as wrong when two looks find it so: it may have been set in the middle of one.
    private func confirmedLead() async -> Duration? {
        guard let first = await lead() else { return nil }
        if ClockStanding.Step(first) == .right { return first }
        guard let second = await lead() else { return nil }
        return ClockStanding.distance(second) < ClockStanding.distance(first) ? second : first
    }

    private func take(_ found: Duration, _ standing: inout ClockStanding) {
        let step = standing.take(found, at: .now)
        courier.hold(standing.step == .held)
        guard let step else { return }
        let event: LoggedEvent =
            switch step {
            case .right: .clockRight
            case .off: .clockOff
            case .held: .clockHeld
            }
        logger.log(
            event,
            [.workerID: .text(courier.workerID), .leadMilliseconds: .integer(found.microseconds / 1000)]
        )
    }
}

/// How wrong a worker's clock is, and when that is to be told; a value without a clock of its own.
struct ClockStanding {
    enum Step: Equatable {
        case right

        /// More than 5 s off: to be told.
        case off

        /// More than a minute off: no request is decided. Its ids would hold the wrong time, by which they are dropped.
        case held

        init(_ lead: Duration) {
            switch ClockStanding.distance(lead) {
            case ...Duration.seconds(5): self = .right
            case ...Duration.seconds(60): self = .off
            default: self = .held
            }
        }
    }

    /// While nothing changes, a wrong clock is told of again only after so long.
    private static let pause = Duration.seconds(600)

    private(set) var step = Step.right
    private var toldAt: ContinuousClock.Instant?

    static func distance(_ lead: Duration) -> Duration { max(lead, .zero - lead) }

    /// Takes a lead that was found; the step to tell of, if any.
    mutating func take(_ lead: Duration, at now: ContinuousClock.Instant) -> Step? {
        let before = step
        step = Step(lead)
        if step == before {
            guard step != .right, let toldAt, now - toldAt >= Self.pause else { return nil }
        }
        toldAt = now
        return step
    }
}
