// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Fleets under faults and load, one scenario at a time, since each keeps the machine busy.
///
/// The suites that run in parallel with it mostly wait.
///
/// A family of scenarios is a suite in an extension of this enum, in its own file. Its tests call `Scenario.run`.
@Suite(.serialized) enum Campaign {
    /// True for the long run.
    static let isFull = ProcessInfo.processInfo.environment["COURIER_FAULTS_FULL"] == "1"

    /// Time for which a scenario of the quick run adds rounds of its faults, counted from the first round.
    ///
    /// Including the start and end of a fleet, the whole run then takes about two minutes on a fast machine. A slow
    /// machine runs fewer rounds, but at least one of each fault.
    static let budget = Duration.seconds(5)

    /// The file for one JSON line per scenario; without it the lines are printed.
    static let reportPath = ProcessInfo.processInfo.environment["COURIER_FAULTS_REPORT"]
}

/// Single workers under faults at a chosen moment; in parallel with the campaign, since they mostly wait.
@Suite(.serialized) enum Drill {}

/// Workers that hang or die at a system call; in parallel, since a watchdog takes most of a minute.
@Suite(.serialized) enum Standstill {}

/// Fleets whose providers fail or whose requests are too old; in parallel, since they mostly wait.
@Suite(.serialized) enum Calls {}

/// Fleets whose broker is gone or refuses requests; in parallel, since they mostly wait.
@Suite(.serialized) enum Outage {}

/// Fleets while PostgreSQL is gone, full or silent, and workers that die between two steps.
///
/// Each has its own server. The suite runs in parallel, since it mostly waits.
@Suite(.serialized) enum Storage {}
