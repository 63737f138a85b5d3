// SPDX-License-Identifier: Apache-2.0

import Hummingbird

/// An error answer of Vonage's SMS API: HTTP 200 and a status in the body (developer.vonage.com, "SMS API errors").
struct VonageSMSError: GatewayError {
    let status: String
    let text: String
    /// A status other than 200, which only a gateway in front of the API returns.
    var httpStatus = 200

    var name: String { status }

    private struct Body: Encodable {
        struct Message: Encodable {
            let status: String
            let text: String

            private enum CodingKeys: String, CodingKey {
                case status
                case text = "error-text"
            }
        }

        let count = "1"
        let messages: [Message]

        private enum CodingKeys: String, CodingKey {
            case count = "message-count"
            case messages
        }
    }

    func response(retryAfter: Int?) throws -> Response {
        let body = Body(messages: [Body.Message(status: status, text: text)])
        var response = try Response.json(body, status: HTTPResponse.Status(code: httpStatus))
        response.setRetryAfter(retryAfter)
        return response
    }
}

extension VonageSMSError {
    static let credentials = VonageSMSError(scripted: 4)

    static func missing(_ parameter: String) -> VonageSMSError {
        VonageSMSError(status: "2", text: "Missing \(parameter) param")
    }

    static func invalid(_ parameter: String) -> VonageSMSError {
        VonageSMSError(status: "3", text: "Invalid value for parameter: \(parameter)")
    }

    /// The answer with a scripted status; an unlisted status gets a generic text.
    init(scripted code: Int) {
        let known = [
            1: "Throughput Rate Exceeded - please wait [ 250 ] and retry", 2: "Missing parameters",
            3: "Invalid parameters", 4: "Bad Credentials", 5: "Internal Error", 6: "Unroutable message - rejected",
            7: "Number barred", 8: "Partner account barred", 9: "Partner quota violation",
            10: "Too many existing binds", 11: "Account not enabled for HTTP", 12: "Message too long",
            14: "Invalid Signature", 15: "Illegal Sender Address - rejected", 22: "Invalid network code",
            23: "Invalid callback url", 29: "Non-Whitelisted Destination", 32: "Signature And API Secret Disallowed",
            33: "Number De-activated",
        ]
        self.init(status: String(code), text: known[code] ?? "Scripted error")
    }

    init(scriptedStatus status: Int, code: Int?) {
        self.init(scripted: code ?? (status == 429 ? 1 : 5))
        httpStatus = status
    }
}
