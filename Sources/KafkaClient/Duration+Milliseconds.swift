// SPDX-License-Identifier: Apache-2.0

extension Duration {
    /// Whole milliseconds, rounded up, within the range of a C timeout; never negative.
    package var milliseconds: Int32 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        guard seconds < 1_000_000 else { return 1_000_000_000 }
        let fraction = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return Int32(truncatingIfNeeded: seconds * 1000 + fraction)
    }
}
