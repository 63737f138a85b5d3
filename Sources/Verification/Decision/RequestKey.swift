// SPDX-License-Identifier: Apache-2.0

import Crypto

/// The gateway's idempotency key: a request id within its tenant.
package struct RequestKey: Sendable, Hashable, Comparable {
    package let tenant: String
    package let requestID: String

    /// The key of the request's row: the first 16 bytes of SHA-256 over `tenant ‖ requestID`.
    ///
    /// It stands for both, so that a batch is looked up and locked by short keys of one length. It is not keyed: a key that
    /// rotates would give a request id that comes again another row.
    package let digest: UUIDValue

    package init(tenant: String, requestID: String) {
        self.tenant = tenant
        self.requestID = requestID
        var fields = FieldJoiner()
        fields.append(tenant)
        fields.append(requestID)
        digest = UUIDValue(digest: SHA256.hash(data: fields.bytes))
    }

    /// What a record is remembered by that has no readable request id; a topic that is made anew begins at offset 0 again.
    static func place(of record: InboundRecord) -> RequestKey {
        let time = record.timestamp.map { "/\($0.microseconds / 1000)" } ?? ""
        return RequestKey(tenant: "", requestID: "\(record.source)/\(record.offset)\(time)")
    }

    package static func == (left: RequestKey, right: RequestKey) -> Bool { left.digest == right.digest }

    /// The one order in which rows of requests are locked.
    package static func < (left: RequestKey, right: RequestKey) -> Bool { left.digest < right.digest }

    package func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}
