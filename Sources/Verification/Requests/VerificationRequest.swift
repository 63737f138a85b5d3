// SPDX-License-Identifier: Apache-2.0

package import Formats

/// A request for one code to one recipient, with every field valid in shape.
///
/// A class, since it is large, never changes, and is passed from rule to rule. Its description shows tenant and id only;
/// other fields may identify a person.
package final class VerificationRequest: Sendable, Redacted {
    /// The gateway's idempotency key, unique per tenant.
    package let requestID: String

    package let tenant: String
    package let channel: Channel
    package let purpose: Purpose
    package let recipient: Recipient

    /// True if the account has verified this recipient before.
    package let recipientConfirmed: Bool

    package let languageCode: LanguageTag?
    package let appName: AppName?

    /// The account; present for every purpose that requires it.
    package let subject: String?

    package let client: RequestClient?
    package let appVerification: AppVerification?
    package let autofill: RequestAutofill?
    package let actionCode: RequestActionCode?

    /// The time of the person's request, by the gateway's clock; nil if the gateway does not give it.
    package let requestedAt: Timestamp?

    /// The time of the record's first arrival in Kafka, by the producer's or the broker's clock.
    package let arrivedAt: Timestamp?

    /// The time after which nothing may be sent.
    package let deadline: Timestamp?

    package let trace: TraceContext?

    /// The paths of unreadable hints that were ignored, such as `client.ip`.
    package let unreadHints: [String]

    /// Reads the fields, in the order in which their faults are reported.
    init(
        _ fields: RequestFields,
        requestID: String,
        arrivedAt: Timestamp?,
        trace: TraceContext?
    ) throws(RequestFault) {
        self.requestID = requestID
        tenant = try fields.tenant()
        channel = try fields.channel()
        purpose = try fields.purpose()
        guard let recipientFields = try fields.fields("recipient") else { throw fields.fault("recipient") }
        recipient = try recipientFields.recipient(of: channel)
        recipientConfirmed = try recipientFields.boolean("confirmed") ?? false
        var unread: [String] = []
        languageCode = fields.hint("languageCode", &unread) { LanguageTag(locale: $0) }
        appName = fields.hint("appName", &unread) { AppName($0) }
        subject = try fields.subject()
        guard subject != nil || !purpose.requiresSubject else { throw fields.fault("subject") }
        client = fields.hints("client", &unread).map { RequestClient($0, &unread) }
        if let inner = try fields.fields("appVerification") {
            appVerification = try AppVerification(inner)
        } else {
            appVerification = nil
        }
        autofill = fields.hints("autofill", &unread).map { RequestAutofill($0, &unread) }
        if let inner = try fields.fields("actionCode") {
            actionCode = try RequestActionCode(inner)
        } else {
            actionCode = nil
        }
        requestedAt = try fields.time("requestedAt")
        self.arrivedAt = arrivedAt
        deadline = try fields.time("deadline")
        self.trace = trace
        unreadHints = unread
    }

    /// True if the request is for an e-mail with a link.
    package var hasLink: Bool { channel == .email && actionCode != nil }

    package var description: String { "request \(requestID) of \(tenant)" }

    /// The maximum time by which a gateway's clock may be ahead of the database's.
    package static let allowedClockSkew: Duration = .seconds(300)

    /// True if the request's time is further ahead of the database's clock than allowed.
    ///
    /// It is the gateway's time, or the record's if the gateway gives none.
    package func isFromFuture(at now: Timestamp) -> Bool {
        (requestedAt ?? arrivedAt).map { $0 > now + Self.allowedClockSkew } ?? false
    }

    /// The time of the person's request: the gateway's, or else the record's first arrival in Kafka.
    ///
    /// A producer's clock may be slightly ahead, so the record's time is limited to `now`.
    package func asked(before now: Timestamp) -> Timestamp {
        requestedAt ?? min(arrivedAt ?? now, now)
    }
}

/// The parameters that let a phone fill in the code automatically.
package struct RequestAutofill: Sendable, Hashable {
    /// The site that the code is bound to, for the line `@domain #code`.
    package let domain: HostName?

    /// The Android app's hash of exactly 11 characters, which ends the message.
    package let androidAppHash: String?

    init(_ fields: RequestFields, _ unread: inout [String]) {
        domain = fields.hint("domain", &unread) { HostName($0) }
        androidAppHash = fields.hint("androidAppHash", &unread) { Self.isAppHash($0) ? $0 : nil }
    }

    /// True if the text has the format of an Android app's hash.
    package static func isAppHash(_ text: String) -> Bool {
        text.isASCII(within: 11...11) {
            $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/")
        }
    }
}

package enum Channel: String, Sendable, Hashable, CaseIterable {
    case sms
    case email
    case apns
}

/// The purpose for which a person proves a recipient.
package enum Purpose: String, Sendable, Hashable, CaseIterable {
    case signUp = "sign_up"
    case signIn = "sign_in"
    case mfaEnrollment = "mfa_enrollment"
    case mfaSignIn = "mfa_sign_in"
    case reauthentication
    case accountLink = "account_link"
    case appVerification = "app_verification"

    /// True if the proof is for a known account, so that the request must name it.
    package var requiresSubject: Bool {
        switch self {
        case .mfaEnrollment, .mfaSignIn, .reauthentication: true
        case .signUp, .signIn, .accountLink, .appVerification: false
        }
    }
}
