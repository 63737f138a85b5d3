// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// What fleets do under faults and load; one scenario after the other, since each keeps the machine busy.
///
/// A family of scenarios is a suite in an extension of this one, in a file of its own; each of its tests calls
/// `Scenario.run`.
@Suite(.serialized) enum Campaign {
    /// Whether the long run is asked for.
    static let isFull = ProcessInfo.processInfo.environment["COURIER_FAULTS_FULL"] == "1"

    /// The file that gets one JSON line per scenario; without it they are printed.
    static let reportPath = ProcessInfo.processInfo.environment["COURIER_FAULTS_REPORT"]
}

/// What single workers do under faults that hit a chosen moment; beside the campaign, since most of it is waiting.
@Suite(.serialized) enum Drill {}

/// What fleets do while what they stand on is gone, full, silent or refuses; beside the campaign for the same reason.
@Suite(.serialized) enum Outage {}
