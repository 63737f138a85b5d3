// SPDX-License-Identifier: Apache-2.0

import Verification

/// The request ids of two days, as the database keeps them: today's and yesterday's, in UTC.
///
/// There is one for every request, so an entry is the digests of its key and of its payload.
struct RememberedRequests {
    private var today: [UUIDValue: UUIDValue] = [:]
    private var yesterday: [UUIDValue: UUIDValue] = [:]
    private var day: Int64?

    /// Forgets the day before yesterday when a new day has begun.
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

    /// The payload's digest of a request id that came before.
    func digest(of key: RequestKey) -> UUIDValue? { today[key.digest] ?? yesterday[key.digest] }

    /// Remembers a request id that is new.
    mutating func remember(_ candidate: Candidate) { today[candidate.key.digest] = candidate.digest }
}
