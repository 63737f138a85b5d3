// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

/// The request ids of today and yesterday in UTC, the days that the database keeps.
///
/// Every request has one, so an entry is only the digests of its key and of its payload.
struct RememberedRequests {
    private var today: [UUIDValue: UUIDValue] = [:]
    private var yesterday: [UUIDValue: UUIDValue] = [:]
    private var day: Int64?

    /// Drops the day before yesterday when a new day begins.
    mutating func advance(to time: Timestamp) {
        let newDay = time.microseconds / 86_400_000_000
        guard let day else {
            self.day = newDay
            return
        }
        guard newDay > day else { return }
        yesterday = newDay == day + 1 ? today : [:]
        today = [:]
        self.day = newDay
    }

    /// The payload's digest of a known request id; nil for a new one.
    func digest(of key: RequestKey) -> UUIDValue? { today[key.digest] ?? yesterday[key.digest] }

    mutating func remember(_ candidate: Candidate) { today[candidate.key.digest] = candidate.digest }
}
