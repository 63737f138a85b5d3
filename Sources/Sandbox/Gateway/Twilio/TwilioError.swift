// SPDX-License-Identifier: Apache-2.0

import Hummingbird

/// An error answer in Twilio's format.
struct TwilioError: GatewayError, Encodable {
    let code: Int
    let message: String
    let status: Int
    let moreInfo: String

    private enum CodingKeys: String, CodingKey {
        case code, message, status
        case moreInfo = "more_info"
    }

    init(code: Int, message: String, status: Int = 400) {
        self.code = code
        self.message = message
        self.status = status
        moreInfo = "https://www.twilio.com/docs/errors/\(code)"
    }

    var name: String { String(code) }

    func response(retryAfter: Int?) throws -> Response {
        var response = try Response.json(self, status: HTTPResponse.Status(code: status))
        response.setRetryAfter(retryAfter)
        if status == 401 { response.headers[.wwwAuthenticate] = "Basic realm=\"Twilio API\"" }
        return response
    }
}

extension TwilioError {
    static let authenticate = TwilioError(code: 20003, message: "Authenticate", status: 401)
    static let notFound = TwilioError(code: 20404, message: "The requested resource was not found", status: 404)
    static let noRecipient = TwilioError(code: 21604, message: "A 'To' phone number is required.")
    static let invalidRecipient = TwilioError(code: 21211, message: "The 'To' number is not a valid phone number.")
    static let noSender = TwilioError(code: 21603, message: "A 'From' phone number is required.")
    static let invalidOutcome = TwilioError(code: 20001, message: "Parameter 'Outcome' is not valid")
    static let noBody = TwilioError(code: 21602, message: "Message body is required.")
    static let longBody = TwilioError(
        code: 21617,
        message: "The concatenated message body exceeds the 1600 character limit."
    )

    /// The answer with a scripted code; an unlisted code gets a generic text.
    init(scripted code: Int) {
        let known: [Int: (message: String, status: Int)] = [
            20003: ("Authenticate", 401),
            20404: ("The requested resource was not found", 404),
            20429: ("Too Many Requests", 429),
            21211: ("The 'To' number is not a valid phone number.", 400),
            21408: ("Permission to send an SMS has not been enabled for the region.", 400),
            21610: ("Attempt to send to unsubscribed recipient", 400),
            21612: ("Message cannot be sent with the current combination of 'To' and 'From' parameters", 400),
            21614: ("'To' number is not a valid mobile number", 400),
            30450: ("Message delivery blocked: fraud suspected", 400),
        ]
        let (message, status) = known[code] ?? ("Scripted error", 400)
        self.init(code: code, message: message, status: status)
    }

    /// The answer with a scripted HTTP status; the code defaults to Twilio's general one of that status.
    init(scriptedStatus status: Int, code: Int?) {
        let message =
            status == 429 ? "Too Many Requests" : status < 500 ? "Scripted error" : "An internal error occurred"
        self.init(code: code ?? 20_000 + status, message: message, status: status)
    }
}
