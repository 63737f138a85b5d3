// SPDX-License-Identifier: Apache-2.0

import Formats

/// A provider's points, 0 to 100: the share of its weight that it keeps in a weighted route.
///
/// The rules and numbers are those by which GOV.UK Notify shifts messages between its providers:
/// - more than 50 errors within 60 s: 10 points less, at most once in 60 s;
/// - at least 15 % of the messages of 15 min took longer than 5 min to arrive: 10 points less, at most once in 5 min
///   (measured from handing a message over to its receipt, so a provider without receipts is never slow);
/// - 5 min without either: 10 points more. Continued errors or slowness restart the 5 min even if they cost no points.
package struct HealthScore: Sendable {
    package typealias Instant = ContinuousClock.Instant

    package static let highest = 100
    private static let step = 10
    private static let errorsAllowed = 50
    private static let errorWindow = Duration.seconds(60)
    private static let slowAfter = Duration.seconds(300)
    private static let slowPercent = 15
    private static let slowWindow = Duration.seconds(900)
    private static let slowInterval = Duration.seconds(300)
    private static let calm = Duration.seconds(300)

    /// The minimum number of messages from which a percentage is computed.
    private static let smallestSample = 20

    private struct Minute {
        let start: Instant
        var arrived = 0
        var slow = 0
    }

    private var points = Self.highest

    /// The time of the last error burst, slowness or gain of points; nil at the maximum of points.
    private var calmSince: Instant?

    /// The times of the newest errors, one more than are allowed.
    private var errors: [Instant] = []
    private var oldestError = 0
    private var lostForErrorsAt: Instant?
    private var lostForSlownessAt: Instant?
    private var minutes: [Minute] = []

    package init() {}

    package mutating func points(at now: Instant) -> Int {
        recover(at: now)
        return points
    }

    /// Records an error of the provider or of the connection to it, not of the message.
    package mutating func noteError(at now: Instant) {
        if errors.count <= Self.errorsAllowed {
            errors.append(now)
        } else {
            errors[oldestError] = now
            oldestError = (oldestError + 1) % errors.count
        }
        guard errors.count > Self.errorsAllowed, errors[oldestError].duration(to: now) <= Self.errorWindow else {
            return
        }
        if suffer(at: now, unlessWithin: Self.errorWindow, of: lostForErrorsAt) { lostForErrorsAt = now }
    }

    /// Records the time that a message took to arrive.
    package mutating func noteArrival(after time: Duration, at now: Instant) {
        minutes.removeAll { $0.start.duration(to: now) >= Self.slowWindow }
        if minutes.isEmpty || isOver(.seconds(60), since: minutes.last?.start, at: now) {
            minutes.append(Minute(start: now))
        }
        minutes[minutes.count - 1].arrived += 1
        if time > Self.slowAfter { minutes[minutes.count - 1].slow += 1 }
    }

    package func isSlow(at now: Instant) -> Bool {
        let recent = minutes.filter { $0.start.duration(to: now) < Self.slowWindow }
        let arrived = recent.reduce(0) { $0 + $1.arrived }
        let slow = recent.reduce(0) { $0 + $1.slow }
        return arrived >= Self.smallestSample && slow * 100 >= arrived * Self.slowPercent
    }

    /// Subtracts points for slowness; the caller decides if another provider is faster.
    package mutating func loseForSlowness(at now: Instant) {
        if suffer(at: now, unlessWithin: Self.slowInterval, of: lostForSlownessAt) { lostForSlownessAt = now }
    }

    /// Restarts the calm period, and subtracts points unless the same kind of trouble has done so within `time`.
    private mutating func suffer(at now: Instant, unlessWithin time: Duration, of last: Instant?) -> Bool {
        recover(at: now)
        calmSince = now
        guard isOver(time, since: last, at: now) else { return false }
        points = max(0, points - Self.step)
        return true
    }

    private mutating func recover(at now: Instant) {
        guard let since = calmSince else { return }
        let steps = max(0, Int(clamping: since.duration(to: now).microseconds / Self.calm.microseconds))
        guard steps > 0 else { return }
        points = min(Self.highest, points + Self.step * min(steps, Self.highest / Self.step))
        calmSince = points == Self.highest ? nil : since + Self.calm * steps
    }

    private func isOver(_ time: Duration, since start: Instant?, at now: Instant) -> Bool {
        guard let start else { return true }
        return start.duration(to: now) >= time
    }
}
