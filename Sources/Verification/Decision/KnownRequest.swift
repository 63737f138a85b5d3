// SPDX-License-Identifier: Apache-2.0

/// What is remembered of a request id.
package struct KnownRequest: Sendable, Equatable {
    /// Where it has come, as a row keeps it: `topic/partition@offset` of the newest record in each partition, by the
    /// partitions' names, with a space between.
    package private(set) var placesText: String
    package let digest: [UInt8]

    /// The verification the request belongs to; nil when the request was refused.
    package var verificationID: VerificationID?

    /// The decision of a request without a verification.
    package var status: DeliveryStatus?
    package var reason: String?
    package var rule: String?

    /// What is remembered of a request that a candidate begins.
    package init(of candidate: Candidate) {
        self.init(
            placesText: candidate.place,
            digest: candidate.digest,
            verificationID: candidate.verificationID
        )
    }

    /// Whether a record is one that has been decided before.
    func hasSeen(_ record: InboundRecord) -> Bool {
        places[record.source].map { record.offset <= $0 } ?? false
    }

    /// Remembers one more record with this id.
    package mutating func see(_ record: InboundRecord) {
        var places = places
        places[record.source] = record.offset
        placesText = Self.text(places)
    }

    /// The newest offset in each partition; what is no place is left out.
    private var places: [String: Int64] {
        var places: [String: Int64] = [:]
        for place in placesText.split(separator: " ") {
            guard let at = place.lastIndex(of: "@"), let offset = Int64(place[place.index(after: at)...]) else {
                continue
            }
            places[String(place[..<at])] = offset
        }
        return places
    }

    private static func text(_ places: [String: Int64]) -> String {
        places.sorted { $0.key < $1.key }.map { place($0.key, $0.value) }.joined(separator: " ")
    }

    /// One place of `placesText`; `source` is `topic/partition`.
    package static func place(_ source: String, _ offset: Int64) -> String { "\(source)@\(offset)" }

    package init(
        placesText: String,
        digest: [UInt8],
        verificationID: VerificationID?,
        status: DeliveryStatus? = nil,
        reason: String? = nil,
        rule: String? = nil
    ) {
        self.placesText = placesText
        self.digest = digest
        self.verificationID = verificationID
        self.status = status
        self.reason = reason
        self.rule = rule
    }
}
