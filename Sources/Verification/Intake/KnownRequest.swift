// SPDX-License-Identifier: Apache-2.0

package import Formats

/// The stored decision of a request id.
package struct KnownRequest: Sendable, Equatable {
    package private(set) var place: RecordPlace

    /// The details; nil while all of them are empty, as for nearly every request.
    private var shared: Shared<Details>?
    package let digest: UUIDValue

    /// The verification that the request belongs to, or by whose state it was refused; nil if there was none.
    package var verificationID: VerificationID?

    /// The decision of a request that was refused; nil for one that shares its verification's status.
    package var status: DeliveryStatus?

    private struct Details: Sendable, Equatable {
        var others: [RecordPlace] = []
        var reason: String?
        var rule: String?
    }

    private var details: Details {
        get { shared?.fields ?? Details() }
        set { shared = newValue == Details() ? nil : Shared(newValue) }
    }

    /// The newest record in each other partition.
    private var others: [RecordPlace] {
        get { shared?.fields.others ?? [] }
        set { details.others = newValue }
    }

    /// The reason of the decision; nil for a request that got a send, whose outcome is the verification's.
    package var reason: String? {
        get { shared?.fields.reason }
        set { details.reason = newValue }
    }
    package var rule: String? {
        get { shared?.fields.rule }
        set { details.rule = newValue }
    }

    package init(of candidate: Candidate) {
        place = candidate.place
        digest = candidate.digest
        verificationID = candidate.verificationID
    }

    /// A request as its row stores it; `places`, if present, replaces `place`.
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
        self.digest = digest
        self.verificationID = verificationID
        self.status = status
        details = Details(others: Array(all.dropFirst()), reason: reason, rule: rule)
    }

    func hasSeen(_ record: RecordPlace) -> Bool { place.covers(record) || others.contains { $0.covers(record) } }

    package mutating func see(_ record: RecordPlace) {
        var places = [place] + others
        let earlier = places.firstIndex { $0.isBeside(record) }.map { places.remove(at: $0) }
        place = earlier?.followed(by: record) ?? record
        others = places
    }

    /// The newest record of every partition, the newest of all first; nil if `place` and its timestamp are enough.
    package var places: String? {
        if others.isEmpty, place.latest == place.time { return nil }
        return ([place] + others).map(\.text).joined(separator: " ")
    }
}

/// The gateway's idempotency key: a request id within its tenant.
package struct RequestKey: Sendable, Hashable, Comparable {
    package let tenant: String
    package let requestID: String

    /// The key of the request's row: the first 16 bytes of SHA-256 over `tenant ‖ requestID`.
    ///
    /// It replaces both texts, so that a batch is looked up and locked by short keys of one length. It is not a keyed
    /// hash: after a key rotation the same request id would get another row.
    package let digest: UUIDValue

    package init(tenant: String, requestID: String) {
        self.tenant = tenant
        self.requestID = requestID
        var fields = FieldJoiner()
        fields.append(tenant)
        fields.append(requestID)
        digest = fields.sha256
    }

    /// The key of a record without a readable request id.
    ///
    /// It includes the timestamp, since offsets repeat in a recreated topic.
    static func place(of record: InboundRecord) -> RequestKey {
        let time = record.timestamp.map { "/\($0.microseconds / 1000)" } ?? ""
        return RequestKey(tenant: "", requestID: "\(record.source)/\(record.offset)\(time)")
    }

    package static func == (left: RequestKey, right: RequestKey) -> Bool { left.digest == right.digest }

    /// The order in which rows of requests are locked everywhere, against deadlocks.
    package static func < (left: RequestKey, right: RequestKey) -> Bool { left.digest < right.digest }

    package func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}
