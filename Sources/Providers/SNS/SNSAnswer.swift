// SPDX-License-Identifier: Apache-2.0

import Verification

/// Maps Amazon's answers to outcomes: XML with a `MessageId`, or with an `Error` and its `Code`.
enum SNSAnswer {
    /// The outcome of each known code (the API references of `Publish` and of AWS's common errors), valid for HTTP
    /// status 4xx.
    ///
    /// `InternalError` and `ServiceUnavailable` come with a 5xx: no document states that nothing was sent then.
    static let outcomes: [String: ProviderOutcome] = [
        // The fault is in our credentials, permissions, clock or endpoint.
        "AccessDenied": .misconfigured,
        "AccessDeniedException": .misconfigured,
        "AuthorizationError": .misconfigured,
        "EndpointDisabled": .misconfigured,
        "ExpiredToken": .misconfigured,
        "ExpiredTokenException": .misconfigured,
        "IncompleteSignature": .misconfigured,
        "InvalidAction": .misconfigured,
        "InvalidClientTokenId": .misconfigured,
        "InvalidSecurity": .misconfigured,
        "KMSAccessDenied": .misconfigured,
        "KMSDisabled": .misconfigured,
        "KMSInvalidState": .misconfigured,
        "KMSNotFound": .misconfigured,
        "KMSOptInRequired": .misconfigured,
        "MalformedQueryString": .misconfigured,
        "MissingAction": .misconfigured,
        "MissingAuthenticationToken": .misconfigured,
        "MissingParameter": .misconfigured,
        "NotAuthorized": .misconfigured,
        "NotFound": .misconfigured,
        "OptInRequired": .misconfigured,
        "PlatformApplicationDisabled": .misconfigured,
        "RequestExpired": .misconfigured,
        "SignatureDoesNotMatch": .misconfigured,
        "UnrecognizedClientException": .misconfigured,

        // The fault is in this message or recipient.
        "InvalidParameter": .refused,
        "InvalidParameterValue": .refused,
        "ParameterValueInvalid": .refused,
        "UserError": .refused,
        "ValidationError": .refused,
        "ValidationException": .refused,

        "OptedOut": .optedOut,

        // Too many messages.
        "KMSThrottling": .throttled,
        "RequestLimitExceeded": .throttled,
        "SlowDown": .throttled,
        "Throttled": .throttled,
        "Throttling": .throttled,
        "ThrottlingException": .throttled,
        "TooManyRequestsException": .throttled,

        "RequestAbortedException": .unknown,  // the connection ended before the answer
    ]

    static func classify(_ answer: HTTPAnswer) -> ProviderAnswer {
        let xml = answer.content.map { XMLScan($0) }
        let messageID = xml?.text(in: ["PublishResponse", "PublishResult", "MessageId"]).flatMap(AnswerWord.messageID)
        if answer.isSuccess, messageID != nil { return ProviderAnswer(.accepted, messageID: messageID) }
        guard answer.isSuccess || answer.status >= 400, let xml,
            let code = xml.text(in: ["ErrorResponse", "Error", "Code"]).flatMap(AnswerWord.errorCode)
        else { return answer.plainAnswer }
        guard answer.status <= 499 else { return answer.answer(answer.outcome, code: code) }
        if isOptOut(code, xml) { return answer.answer(.optedOut, code: "opted_out") }
        let known = outcomes[code]
        if answer.isSuccess, known == nil { return answer.plainAnswer }
        return answer.answer(known ?? answer.outcome, code: code)
    }

    /// True when the person has sent STOP: Amazon reports it with a code or, for `Publish`, in the text of a general
    /// code.
    private static func isOptOut(_ code: String, _ xml: XMLScan) -> Bool {
        if code == "OptedOut" { return true }
        let text = xml.text(in: ["ErrorResponse", "Error", "Message"])
        let isOfParameter = code.hasPrefix("InvalidParameter") || code.hasPrefix("Validation") || code == "UserError"
        return isOfParameter && text?.lowercased().contains("opted out") == true
    }
}
