// SPDX-License-Identifier: Apache-2.0

import Crypto
package import Formats

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
        digest = SHA256.hash(data: fields.bytes).withUnsafeBytes { UUIDValue(digest: $0) }
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
