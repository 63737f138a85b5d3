// SPDX-License-Identifier: Apache-2.0

/// What is remembered of a request id.
package struct KnownRequest: Sendable, Equatable {
    /// Where its newest record stands.
    package private(set) var place: RecordPlace

    /// The newest record in each other partition: nearly always none.
    private var others: [RecordPlace] = []
    package let digest: UUIDValue

    /// The verification the request belongs to; nil when the request was refused.
    package var verificationID: VerificationID?

    /// The decision of a request without a verification.
    package var status: DeliveryStatus?
    package var reason: String?
    package var rule: String?

    /// What is remembered of a request that a candidate begins.
    package init(of candidate: Candidate) {
        place = candidate.place
        digest = candidate.digest
        verificationID = candidate.verificationID
    }

    /// What a row tells; `places` counts where it is there.
    package init(
        place: RecordPlace,
        places: String?,
        digest: UUIDValue,
        verificationID: VerificationID? = nil,
        status: DeliveryStatus? = nil,
        reason: String? = nil,
        rule: String? = nil
    ) {
        let all = places?.split(separator: " ").compactMap { RecordPlace($0) } ?? []
        self.place = all.first ?? place
        others = Array(all.dropFirst())
        self.digest = digest
        self.verificationID = verificationID
        self.status = status
        self.reason = reason
        self.rule = rule
    }

    /// Whether a record is one that has been decided before.
    func hasSeen(_ record: RecordPlace) -> Bool { place.covers(record) || others.contains { $0.covers(record) } }

    /// Remembers one more record with this id.
    package mutating func see(_ record: RecordPlace) {
        var places = [place] + others
        let earlier = places.firstIndex { $0.isBeside(record) }.map { places.remove(at: $0) }
        place = earlier?.followed(by: record) ?? record
        others = places
    }

    /// The newest record of every partition, the newest of all first; nil where `place` and its time are all there is.
    package var places: String? {
        if others.isEmpty, place.latest == place.time { return nil }
        return ([place] + others).map(\.text).joined(separator: " ")
    }
}
