// SPDX-License-Identifier: Apache-2.0

import Formats
import Glibc

/// The difference between the approvals that a scope should have by now and those that it has.
package struct Shortfall: Sendable, Equatable {
    package let expected: Double
    package let observed: Int

    package init(expected: Double, observed: Int) {
        self.expected = expected
        self.observed = observed
    }

    /// The surprise in nats, 0 without a shortfall.
    ///
    /// It is Chernoff's bound of a Poisson tail: the chance of so few approvals is at most e^-surprise.
    package var surprise: Double {
        guard Double(observed) < expected else { return 0 }
        let observed = Double(observed)
        return expected - observed + (observed > 0 ? observed * log(observed / expected) : 0)
    }

    /// True if the evidence suffices; a sensitivity of 2 needs half of it.
    package func exceeds(_ threshold: BrakeScope.Threshold, sensitivity: Double) -> Bool {
        expected >= threshold.minimum && Double(observed) < expected / threshold.ratio
            && surprise >= threshold.need / sensitivity
    }
}
