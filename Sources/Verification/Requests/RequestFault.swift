// SPDX-License-Identifier: Apache-2.0

package import Formats

/// The result of reading a request's record.
package enum RequestReading: Sendable {
    /// The request cannot be answered: the record becomes a dead letter, with the reason.
    case deadLetter(DeadLetterReason)

    /// The request can be answered, with a refusal that names the field.
    case invalid(InvalidRequest)

    case request(VerificationRequest)
}

/// The reason why a record becomes a dead letter.
package enum DeadLetterReason: String, Error, Sendable, Hashable, CaseIterable {
    case notJSON = "not_json"
    case invalidUTF8 = "invalid_utf8"

    /// The value is compressed, in a format other than JSON, or in another encoding.
    case unknownFraming = "unknown_framing"
    case tombstone
    case tooLarge = "too_large"
    case tooDeep = "too_deep"
    case duplicateKey = "duplicate_key"
    case numberOutOfRange = "number_out_of_range"
    case notAnObject = "not_an_object"
    case missingRequestID = "missing_request_id"
    case invalidRequestID = "invalid_request_id"
    case invalidCloudEvent = "invalid_cloudevent"

    /// The database rejects a value in the record.
    case unrecordable

    /// The value is no receipt, or its parts contradict each other.
    case invalidReceipt = "invalid_receipt"

    /// The receipt's signature is wrong, or missing and required.
    case badSignature = "bad_signature"

    /// The receipt's send was not found in time.
    case unknownReceipt = "unknown_receipt"

    /// The receipt's `sendId` names another cell, and the receipt belongs in that cell's topic.
    case otherCell = "other_cell"

    init(_ fault: JSONFault) {
        switch fault {
        case .notJSON: self = .notJSON
        case .invalidUTF8: self = .invalidUTF8
        case .tooDeep: self = .tooDeep
        case .duplicateKey: self = .duplicateKey
        case .numberOutOfRange: self = .numberOutOfRange
        }
    }
}

/// A request refused for its shape, with the fields that the refusal repeats.
package struct InvalidRequest: Sendable, Hashable {
    package let requestID: String

    /// The request's tenant, or `default` if that field itself is invalid.
    package let tenant: String

    /// The request's channel; nil if invalid.
    package let channel: Channel?

    /// The request's purpose; nil if missing or invalid.
    package let purpose: Purpose?

    /// The request's subject; nil if absent or invalid.
    package let subject: String?

    /// The path of the first invalid field, such as `recipient.phoneNumber`; never its value.
    package let field: String

    package let reason: RejectionReason
    package let trace: TraceContext?
}

struct RequestFault: Error, Sendable, Hashable {
    let field: String
    let reason: RejectionReason
}

extension InvalidRequest {
    /// Turns a readable request with an invalid field into an invalid one.
    init(_ request: VerificationRequest, field: String) {
        requestID = request.requestID
        tenant = request.tenant
        channel = request.channel
        purpose = request.purpose
        subject = request.subject
        self.field = field
        reason = .invalidRequest
        trace = request.trace
    }
}

/// The reason to refuse a request before any send.
package enum RejectionReason: String, Sendable, Hashable, CaseIterable {
    case regionNotAllowed = "region_not_allowed"
    case regionConfirmedOnly = "region_confirmed_only"
    case numberTypeNotAllowed = "number_type_not_allowed"
    case invalidPhoneNumber = "invalid_phone_number"
    case invalidRequest = "invalid_request"
    case appVerificationRequired = "app_verification_required"
    case appVerificationFailed = "app_verification_failed"
    case quotaRecipient = "quota_recipient"
    case quotaIP = "quota_ip"
    case quotaSubject = "quota_subject"
    case quotaDevice = "quota_device"
    case quotaTenant = "quota_tenant"
    case budgetExhausted = "budget_exhausted"
    case tollFraudSuspected = "toll_fraud_suspected"
    case maxSends = "max_sends"
    case locked
    case unauthorizedDomain = "unauthorized_domain"
    case testNumberOnly = "test_number_only"
    case unknownTenant = "unknown_tenant"
    case requestIDConflict = "request_id_conflict"
}
