// SPDX-License-Identifier: Apache-2.0

/// The admissions of a whole tenant within one sliding window, each in eight bytes.
///
/// What has left the window is dropped in the order of the admissions, so a clock that steps back finds it gone.
struct AdmissionCount {
    private var times: [Timestamp] = []
    private var first = 0

    /// The admissions within `per` before `now`.
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
