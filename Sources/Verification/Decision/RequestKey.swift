// SPDX-License-Identifier: Apache-2.0

/// The gateway's idempotency key: a request id within its tenant.
package struct RequestKey: Sendable, Hashable, Comparable {
    package let tenant: String
    package let requestID: String

    package init(tenant: String, requestID: String) {
        self.tenant = tenant
        self.requestID = requestID
    }

    /// What a record is remembered by that has no readable request id; a topic that is made anew begins at offset 0 again.
    static func place(of record: InboundRecord) -> RequestKey {
        let time = record.timestamp.map { "/\($0.microseconds / 1000)" } ?? ""
        return RequestKey(tenant: "", requestID: "\(record.source)/\(record.offset)\(time)")
    }

    /// Ids are compared by their bytes, as PostgreSQL does: Swift takes letters for equal that only look alike.
    package static func == (left: RequestKey, right: RequestKey) -> Bool {
        left.requestID.hasSameBytes(as: right.requestID) && left.tenant == right.tenant
    }

    package static func < (left: RequestKey, right: RequestKey) -> Bool {
        guard left.tenant == right.tenant else { return left.tenant < right.tenant }
        return left.requestID.hasBytes(before: right.requestID)
    }

    package func hash(into hasher: inout Hasher) {
        var id = requestID
        id.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(tenant)
    }
}
