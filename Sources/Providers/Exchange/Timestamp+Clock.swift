// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Verification

extension Timestamp {
    /// This machine's clock, which signatures state; providers bear a few minutes of difference.
    static var now: Timestamp {
        Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000))
    }
}
