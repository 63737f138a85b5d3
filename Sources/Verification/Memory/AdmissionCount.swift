// SPDX-License-Identifier: Apache-2.0

import Formats

/// The admissions of a whole tenant within one sliding window, eight bytes each.
///
/// Admissions that have left the window are removed for good, so a clock that is set back does not count them again.
struct AdmissionCount {
    private var times: [Timestamp] = []
    private var first = 0

    mutating func count(at now: Timestamp, per: Duration) -> Int {
        let start = now - per
        while first < times.count, times[first] <= start { first += 1 }
        if first > 1024, first > times.count / 2 {
            times.removeFirst(first)
            first = 0
        }
        return times.count - first
    }

    mutating func admit(at now: Timestamp) {
        times.append(now)
    }
}
