// SPDX-License-Identifier: Apache-2.0

package import Formats
package import PostgresClient
package import Verification

/// Reads what happened to a request, through the functions that role `courier_operator` may execute.
package struct StoryReader: Sendable {
    private let pool: PostgresPool

    /// - Parameter pool: connections of a role that is granted `courier_operator`, or of the owner.
    package init(pool: PostgresPool) {
        self.pool = pool
    }

    /// The newest answer to a request id; nil if the id is unknown or older than a day or two.
    package func answer(tenant: String, requestID: String) async throws -> RequestAnswer? {
        let statement = Statement(
            """
            SELECT verification_id, status, reason, rule, record_partition, record_offset, record_time
            FROM courier.show_request($1, $2) LIMIT 1
            """,
            [.text(tenant), .text(requestID)]
        )
        return try await pool.withSession { try $0.execute(statement).first.map { try RequestAnswer($0) } }
    }

    /// The newest verification of each purpose of a recipient, the newest first.
    ///
    /// `fingerprints` holds the recipient's fingerprint under every key of the ring.
    package func verifications(fingerprints: [[UInt8]], tenant: String?) async throws -> [VerificationID] {
        let statement = Statement(
            "SELECT * FROM courier.show_recipient($1, $2)",
            [.bytesArray(fingerprints), .text(tenant)]
        )
        return try await pool.withSession { session in
            try session.execute(statement).map { VerificationID(UUIDValue(try $0.uuid(0))) }
        }
    }

    /// A verification with its messages; nil if there is none with this id.
    package func story(of id: VerificationID) async throws -> VerificationStory? {
        let verification = Statement(
            """
            SELECT tenant, purpose, channel, region, masked, request_id, policy_version, state, status, reason,
                sequence, checks_used, max_checks, sends_used, max_sends, send_open, fictional, resend_after,
                expires_at, ended_at, unpublished, statement_timestamp()
            FROM courier.show_verification($1)
            """,
            [.uuid(id.uuid.value)]
        )
        let sends = Statement(
            """
            SELECT number, id, state, attempts, segments, encoding, provider, provider_message_id, error_code,
                refused_by, repeated, request_id, lease_until
            FROM courier.show_sends($1)
            """,
            [.uuid(id.uuid.value)]
        )
        return try await pool.withSession { session in
            guard let row = try session.execute(verification).first else { return nil }
            return try VerificationStory(id, row, sends: session.execute(sends).map { try .init($0) })
        }
    }
}

/// The answer to a request id.
package struct RequestAnswer: Sendable {
    /// Nil for a request that was answered at once.
    package let verificationID: VerificationID?

    /// Nil for a request that got a message of its own, whose verification has the status.
    package let status: String?
    package let reason: String?
    package let rule: String?
    package let partition: Int32
    package let offset: Int64

    /// The timestamp of its newest record.
    package let recordTime: Timestamp?

    fileprivate init(_ row: Row) throws(PostgresError) {
        verificationID = try row.optionalUUID(0).map { VerificationID(UUIDValue($0)) }
        let reason = try row.optionalText(2)
        // A suppressed request stores why it got no message, and no status: its later events have the verification's.
        status = try row.optionalText(1) ?? reason.map { _ in DeliveryStatus.suppressed.rawValue }
        self.reason = reason
        rule = try row.optionalText(3)
        partition = try row.int32(4)
        offset = try row.int64(5)
        recordTime = try row.optionalInt64(6).map { Timestamp(milliseconds: $0) }
    }
}

/// A verification and its messages, without its recipient, its code and its account.
package struct VerificationStory: Sendable {
    package let id: VerificationID
    package let tenant: String
    package let purpose: String
    package let channel: String
    package let region: String?
    package let masked: String
    package let requestID: String
    package let policyVersion: String
    package let state: String

    /// The status of the newest event, nil before the first.
    package let status: String?
    package let reason: String?
    package let sequence: Int32
    package let checksUsed: Int16
    package let maxChecks: Int16
    package let sendsUsed: Int16
    package let maxSends: Int16
    package let isSendOpen: Bool
    package let isFictional: Bool
    package let resendAfter: Timestamp
    package let expiresAt: Timestamp
    package let endedAt: Timestamp?

    /// The events that Kafka may not have yet.
    package let unpublished: Int64

    /// The database's clock at the reading.
    package let readAt: Timestamp
    package let sends: [Send]

    fileprivate init(_ id: VerificationID, _ row: Row, sends: [Send]) throws(PostgresError) {
        self.id = id
        tenant = try row.text(0)
        purpose = try row.text(1)
        channel = try row.text(2)
        region = try row.optionalText(3)
        masked = try row.text(4)
        requestID = try row.text(5)
        policyVersion = try row.text(6)
        state = try row.text(7)
        status = try row.optionalText(8)
        reason = try row.optionalText(9)
        sequence = try row.int32(10)
        checksUsed = try row.int16(11)
        maxChecks = try row.int16(12)
        sendsUsed = try row.int16(13)
        maxSends = try row.int16(14)
        isSendOpen = try row.bool(15)
        isFictional = try row.bool(16)
        resendAfter = Timestamp(microseconds: try row.timestamp(17))
        expiresAt = Timestamp(microseconds: try row.timestamp(18))
        endedAt = try row.optionalTimestamp(19).map { Timestamp(microseconds: $0) }
        unpublished = try row.int64(20)
        readAt = Timestamp(microseconds: try row.timestamp(21))
        self.sends = sends
    }

    /// One message.
    package struct Send: Sendable {
        package let number: Int16
        package let id: UUIDValue
        package let state: String
        package let attempts: Int16
        package let segments: Int16?
        package let encoding: String?
        package let provider: String?
        package let providerMessageID: String?
        package let errorCode: String?

        /// The providers that refused the message.
        package let refusedBy: [String]

        /// True if the message was handed over once more after an unknown outcome.
        package let isRepeated: Bool
        package let requestID: String

        /// The end of a worker's lease on a message without an outcome.
        package let leaseUntil: Timestamp?

        fileprivate init(_ row: Row) throws(PostgresError) {
            number = try row.int16(0)
            id = UUIDValue(try row.uuid(1))
            state = try row.text(2)
            attempts = try row.int16(3)
            segments = try row.optionalInt16(4)
            encoding = try row.optionalText(5)
            provider = try row.optionalText(6)
            providerMessageID = try row.optionalText(7)
            errorCode = try row.optionalText(8)
            refusedBy = (try row.optionalText(9) ?? "").split(separator: " ").map(String.init)
            isRepeated = try row.bool(10)
            requestID = try row.text(11)
            leaseUntil = try row.optionalTimestamp(12).map { Timestamp(microseconds: $0) }
        }
    }
}
