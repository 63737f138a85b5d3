// SPDX-License-Identifier: Apache-2.0

import Formats
import Glibc

/// A time of CLOCK_MONOTONIC, which all processes of a machine share and nobody can set.
struct MonotonicTime: Sendable, Hashable, Codable {
    /// Microseconds since an unspecified moment, on Linux the boot.
    let microseconds: Int64

    static var now: MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
    }

    init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    init(from decoder: any Decoder) throws {
        microseconds = try decoder.singleValueContainer().decode(Int64.self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(microseconds)
    }

    /// The time since `earlier`; nil when that is in the future, as after a reboot.
    func elapsed(since earlier: MonotonicTime) -> Duration? {
        let (difference, overflow) = microseconds.subtractingReportingOverflow(earlier.microseconds)
        return overflow || difference < 0 ? nil : .microseconds(difference)
    }
}
