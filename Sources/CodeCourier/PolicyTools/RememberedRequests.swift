// SPDX-License-Identifier: Apache-2.0

import Verification

/// The request ids of two days, as the database keeps them: today's and yesterday's, in UTC.
///
/// There is one for every request, so an entry is small: ids are kept as 128-bit hashes with a seed of this process.
struct RememberedRequests {
    private struct Entry {
        let digest: UInt128
        let verificationID: VerificationID?
    }

    private var today: [UInt128: Entry] = [:]
    private var yesterday: [UInt128: Entry] = [:]
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

    /// What is remembered of the candidate's request id, save where its records were: none is read twice.
    func find(_ candidate: Candidate) -> KnownRequest? {
        let id = Self.id(of: candidate.key)
        guard let entry = today[id] ?? yesterday[id] else { return nil }
        return KnownRequest(
            placesText: "",
            digest: UUIDValue(entry.digest).bytes,
            verificationID: entry.verificationID
        )
    }

    /// Remembers a request id that is new.
    mutating func remember(_ candidate: Candidate, as request: KnownRequest) {
        today[Self.id(of: candidate.key)] = Entry(
            digest: request.digest.prefix(16).reduce(0) { $0 << 8 | UInt128($1) },
            verificationID: request.verificationID
        )
    }

    private static func id(of key: RequestKey) -> UInt128 {
        var high = Hasher()
        high.combine(key)
        var low = Hasher()
        low.combine(1)
        low.combine(key)
        return UInt128(UInt64(bitPattern: Int64(high.finalize()))) << 64
            | UInt128(UInt64(bitPattern: Int64(low.finalize())))
    }
}
