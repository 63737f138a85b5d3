// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import KafkaClient
import Verification

/// A delivery event, as a consumer sees it.
struct Event: Sendable {
    let record: ConsumerRecord
    let body: Body

    struct Body: Decodable, Sendable {
        let verificationId: String?
        let requestId: String
        let tenant: String
        let channel: String?
        let purpose: String?
        let sequence: Int
        let status: String
        let reason: String?
        let rule: String?
        let field: String?
        let recipient: Recipient?
        let send: Send?
        let code: Code?
        let resendAfter: String?
        let expiresAt: String?
        let sendsLeft: Int?
        let fictional: Bool?
        let policyVersion: String?
        let occurredAt: String
    }

    struct Recipient: Decodable, Sendable {
        let masked: String?
        let region: String?
        let fingerprint: String?
    }

    struct Send: Decodable, Sendable {
        let id: String
        let number: Int
        let max: Int
        let provider: String?
        let providerMessageId: String?
        let segments: Int?
        let encoding: String?
        let errorCode: String?
    }

    struct Code: Decodable, Sendable {
        let length: Int
        let generation: Int
    }

    init(_ record: ConsumerRecord) throws {
        self.record = record
        body = try JSONDecoder().decode(Body.self, from: Data(record.value ?? []))
    }

    /// The CloudEvents id, by which a consumer removes repeats.
    var id: String { record.text("ce_id") ?? "" }

    var answer: Answer { Answer(body.status, body.reason) }

    var verification: VerificationID? { body.verificationId.flatMap { UUIDValue($0) }.map { VerificationID($0) } }
}

/// Status and reason of an event.
struct Answer: Hashable, Sendable, CustomStringConvertible {
    let status: String
    let reason: String?

    init(_ status: String, _ reason: String? = nil) {
        (self.status, self.reason) = (status, reason)
    }

    var description: String { reason.map { "\(status) \($0)" } ?? status }
}

extension ConsumerRecord {
    /// The value of the last header of a name.
    func text(_ header: String) -> String? {
        headers.last { $0.name == header }?.value.map { String(decoding: $0, as: UTF8.self) }
    }
}
