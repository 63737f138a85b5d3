// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

/// An event in terms that the model and a published record have in common.
struct ModelEvent: Sendable, Equatable, CustomStringConvertible {
    var requestID: String
    var tenant: String
    var status: String
    var reason: String?
    var originalReason: String?
    var retryAfter: String?
    var verification: String?
    var sequence: Int64 = 1
    var generation: Int64?
    var resendAfter: String?
    var expiresAt: String?
    var sendsLeft: Int64?
    var sendNumber: Int64?
    var sendMax: Int64?
    var isFictional = false
    var occurredAt: String

    var description: String {
        let parts: [(String, Any?)] = [
            ("", tenant), ("", requestID), ("", status), ("", reason), ("once ", originalReason),
            ("retry ", retryAfter), ("of ", verification),
            ("#", sequence),
            ("generation ", generation), ("resend ", resendAfter), ("expires ", expiresAt), ("left ", sendsLeft),
            ("send ", sendNumber), ("of ", sendMax), ("", isFictional ? "fictional" : nil), ("at ", occurredAt),
        ]
        return parts.compactMap { name, value in value.map { "\(name)\($0)" } }.joined(separator: " ")
    }
}

extension ModelEvent {
    /// Reads a published record; `names` maps verification ids to the model's names.
    init?(_ record: OutboxRecord, names: [String: String]) {
        guard let object = record.json, let requestID = object.text("requestId"), let tenant = object.text("tenant"),
            let status = object.text("status"), let occurredAt = object.text("occurredAt")
        else { return nil }
        self.init(
            requestID: requestID,
            tenant: tenant,
            status: status,
            reason: object.text("reason"),
            originalReason: object.text("originalReason"),
            retryAfter: object.text("retryAfter"),
            verification: object.text("verificationId").map { names[$0] ?? "nobody's" },
            sequence: object.integer("sequence") ?? 0,
            generation: object.object("code")?.integer("generation"),
            resendAfter: object.text("resendAfter"),
            expiresAt: object.text("expiresAt"),
            sendsLeft: object.integer("sendsLeft"),
            sendNumber: object.object("send")?.integer("number"),
            sendMax: object.object("send")?.integer("max"),
            occurredAt: occurredAt
        )
        if case .bool(true)? = object["fictional"] { isFictional = true }
    }
}

extension JSONObject {
    func integer(_ name: String) -> Int64? { self[name]?.number?.int64 }
}
