// SPDX-License-Identifier: Apache-2.0

import Glibc
package import Verification

extension Timestamp {
    /// This machine's clock.
    ///
    /// It dates ids, log lines, statistics, dead letters of receipts, mails and what is signed for providers, and tells how
    /// fast providers deliver. Whatever is decided of a request or a verification uses the database's clock.
    package static var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
    }
}
