// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// What fleets do under faults and load; one scenario after the other, since each keeps the machine busy.
///
/// The suites beside it mostly wait.
///
/// A family of scenarios is a suite in an extension of this one, in a file of its own; each of its tests calls
/// `Scenario.run`.
@Suite(.serialized) enum Campaign {
    /// Whether the long run is asked for.
    static let isFull = ProcessInfo.processInfo.environment["COURIER_FAULTS_FULL"] == "1"

    /// The time for which a scenario of the quick run goes on with further rounds of its faults, from the first one on.
    ///
    /// With what a fleet takes to start and to come to its end, the whole run then takes about two minutes on a fast
    /// machine. A slow one makes fewer rounds: of each fault at least one.
    static let budget = Duration.seconds(5)

    /// The file that gets one JSON line per scenario; without it they are printed.
    static let reportPath = ProcessInfo.processInfo.environment["COURIER_FAULTS_REPORT"]
}

/// What single workers do under faults that hit a chosen moment; beside the campaign, since most of it is waiting.
@Suite(.serialized) enum Drill {}

/// Workers that stand still or die at a system call; beside the others, since a watchdog takes most of a minute.
@Suite(.serialized) enum Standstill {}

/// Fleets whose providers fail or whose requests come too late; beside the others, since both are waited for.
@Suite(.serialized) enum Calls {}

/// Fleets whose broker is gone or refuses; beside the campaign for the same reason.
@Suite(.serialized) enum Outage {}

/// What fleets do while PostgreSQL is gone, full or silent, on servers of their own, and what workers leave in it that
/// die between two steps; beside the others, since it mostly waits.
@Suite(.serialized) enum Storage {}
