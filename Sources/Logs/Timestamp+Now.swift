// SPDX-License-Identifier: Apache-2.0

import Glibc
package import Verification

extension Timestamp {
    /// The time of this machine's clock.
    ///
    /// It is used for ids, log lines, statistics, dead letters of receipts, mails, signatures for providers and the
    /// latency of deliveries. Every decision about a request or a verification uses the database's clock.
    package static var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
    }
}
