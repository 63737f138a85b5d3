// SPDX-License-Identifier: Apache-2.0

import Formats

/// The speed of approvals: of the people who approve at all, the part that has done so by each age at which rows are
/// read.
package struct ApprovalCurve: Sendable, Equatable {
    /// The ages of a verification at which its row is read again.
    package static let ages: [Duration] = [15, 30, 60, 120, 240, 600].map { .seconds($0) }

    /// The least number of approvals that make a curve.
    package static let minimumApprovals = 200

    /// 8 s, then a log-normal time with a median of 22 s and a sigma of 0.95.
    package static let usual = ApprovalCurve(parts: [0.1140, 0.5, 0.8174, 0.9567, 0.9934, 0.9997])

    /// By the index of an age, each 0…1.
    package let parts: [Double]

    private init(parts: [Double]) {
        self.parts = parts
    }

    /// A curve from the approvals of a day, by how many were there at each age; nil from too few.
    ///
    /// - Parameter counts: approvals up to each age of `ages`, and last all of them.
    package init?(counts: [Int]) {
        guard counts.count == Self.ages.count + 1, let all = counts.last, all >= Self.minimumApprovals else {
            return nil
        }
        parts = counts.dropLast().map { min(1, Double($0) / Double(all)) }
    }
}
