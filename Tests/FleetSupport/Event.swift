// SPDX-License-Identifier: Apache-2.0

import Formats
import FoundationEssentials
package import KafkaClient
package import Verification

/// A delivery event, as a consumer receives it.
package struct Event: Sendable {
    package let record: ConsumerRecord
    package let body: Body

    package struct Body: Decodable, Sendable {
        package let verificationId: String?
        package let requestId: String
        package let tenant: String
        package let channel: String?
        package let purpose: String?
        package let sequence: Int
        package let status: String
        package let reason: String?
        package let rule: String?
        package let field: String?
        package let recipient: Recipient?
        package let send: Send?
        package let code: Code?
        package let resendAfter: String?
        package let retryAfter: String?
        package let expiresAt: String?
        package let sendsLeft: Int?
        package let fictional: Bool?
        package let policyVersion: String?
        package let occurredAt: String
    }

    package struct Recipient: Decodable, Sendable {
        package let masked: String?
        package let region: String?
        package let fingerprint: String?
    }

    package struct Send: Decodable, Sendable {
        package let id: String
        package let number: Int
        package let max: Int
        package let provider: String?
        package let providerMessageId: String?
        package let segments: Int?
        package let encoding: String?
        package let errorCode: String?
    }

    package struct Code: Decodable, Sendable {
        package let length: Int?
        package let generation: Int
    }

    package init(_ record: ConsumerRecord) throws {
        self.record = record
        body = try JSONDecoder().decode(Body.self, from: Data(record.value ?? []))
    }

    /// The CloudEvents id, by which consumers deduplicate.
    package var id: String { record.text("ce_id") ?? "" }

    package var answer: Answer { Answer(body.status, body.reason) }

    /// True for an event which says that its message has not left yet: its outcome comes in another one.
    package var isPending: Bool { answer == Answer("suppressed", "send_pending") }

    package var verification: VerificationID? {
        body.verificationId.flatMap { UUIDValue($0) }.map { VerificationID($0) }
    }
}

package struct Answer: Hashable, Sendable, CustomStringConvertible {
    package let status: String
    package let reason: String?

    package init(_ status: String, _ reason: String? = nil) {
        (self.status, self.reason) = (status, reason)
    }

    package var description: String { reason.map { "\(status) \($0)" } ?? status }
}

extension ConsumerRecord {
    /// The value of the last header with a name.
    package func text(_ header: String) -> String? {
        headers.last { $0.name == header }?.value.map { String(decoding: $0, as: UTF8.self) }
    }
}
