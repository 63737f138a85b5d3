// SPDX-License-Identifier: Apache-2.0

/// What reading a record came to.
package enum RequestReading: Sendable {
    /// Nobody can be answered: the record itself is kept, with the reason.
    case deadLetter(DeadLetterReason)

    /// The request can be answered, by a refusal that names the field.
    case invalid(InvalidRequest)

    case request(VerificationRequest)
}

/// Why a record cannot be read far enough to answer it.
package enum DeadLetterReason: String, Error, Sendable, Hashable, CaseIterable {
    case notJSON = "not_json"
    case invalidUTF8 = "invalid_utf8"

    /// Another format than JSON, compressed, or in another encoding.
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

    /// The database refuses a value of it.
    case unrecordable

    /// An object that is no receipt, or whose parts contradict each other.
    case invalidReceipt = "invalid_receipt"

    /// A receipt whose signature is wrong, or missing where there must be one.
    case badSignature = "bad_signature"

    /// A receipt whose send did not turn up in time.
    case unknownReceipt = "unknown_receipt"

    /// A receipt whose `sendId` names another cell, whose topic it belongs in.
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

/// A request that is refused for its shape, with as much of it as the refusal repeats.
package struct InvalidRequest: Sendable, Hashable {
    package let requestID: String

    /// The request's tenant, or `default` when that field itself is unusable.
    package let tenant: String

    /// The request's channel, nil when it is unusable.
    package let channel: Channel?

    /// The request's purpose, nil when it is missing or unusable.
    package let purpose: Purpose?

    /// Where the first fault is, such as `recipient.phoneNumber`; never what stands there.
    package let field: String

    package let reason: RejectionReason
    package let trace: TraceContext?
}

/// The first field of a request that breaks its rule.
struct RequestFault: Error, Sendable, Hashable {
    let field: String
    let reason: RejectionReason
}

extension InvalidRequest {
    /// A request that was read and has a fault all the same, told as one that could not be.
    init(_ request: VerificationRequest, field: String) {
        requestID = request.requestID
        tenant = request.tenant
        channel = request.channel
        purpose = request.purpose
        self.field = field
        reason = .invalidRequest
        trace = request.trace
    }
}

/// Why a request is refused before any send.
package enum RejectionReason: String, Sendable, Hashable {
    case regionNotAllowed = "region_not_allowed"
    case regionConfirmedOnly = "region_confirmed_only"
    case numberTypeNotAllowed = "number_type_not_allowed"
    case invalidPhoneNumber = "invalid_phone_number"
    case invalidRequest = "invalid_request"
    case appVerificationRequired = "app_verification_required"
    case appVerificationFailed = "app_verification_failed"
    case quotaRecipient = "quota_recipient"
    case quotaIP = "quota_ip"
    case quotaTenant = "quota_tenant"
    case maxSends = "max_sends"
    case locked
    case unauthorizedDomain = "unauthorized_domain"
    case testNumberOnly = "test_number_only"
    case unknownTenant = "unknown_tenant"
    case requestIDConflict = "request_id_conflict"
}
