// SPDX-License-Identifier: Apache-2.0

package import Verification

/// Settings for a gateway of any vendor: one HTTP request a message, and rules for its answers.
package struct GatewayConfiguration: Sendable {
    package enum Method: String, Sendable, CaseIterable {
        case post = "POST"
        case put = "PUT"
        case get = "GET"
    }

    /// The format of the body, which decides the escaping of values.
    package enum ContentType: String, Sendable, CaseIterable {
        case json = "application/json"
        case form = "application/x-www-form-urlencoded"
        case xml = "application/xml"
        case text = "text/plain"

        package var escaping: GatewayTemplate.Escaping {
            switch self {
            case .json: .json
            case .form: .form
            case .xml: .xml
            case .text: .none
            }
        }
    }

    /// The location of a value in an answer.
    package enum Place: Sendable {
        case path(AnswerPath)

        /// A search in a text of any format.
        case pattern(AnswerPattern)
    }

    /// The name of the gateway in the policy's routes.
    package var name: String

    /// The whole URL.
    ///
    /// It prints its variables only, because some gateways want their key in it.
    package var url: GatewayTemplate
    package var method = Method.post
    package var contentType = ContentType.json
    package var headers: [Header] = []

    /// The body's template; nil where URL and headers carry everything.
    package var body: GatewayTemplate?

    /// The values of `{from}` and `{secret}`.
    package var from: String?
    package var secret: Secret?

    /// `user:password` for the header `Authorization`.
    package var basicAuth: Secret?
    package var connection: ConnectionOptions?

    /// The header for the send's id, by default the one that most gateways expect, and true when the gateway sends only
    /// one message for one id.
    package var idempotencyHeader = "Idempotency-Key"
    package var isIdempotent = false

    /// The locations of the message's id, its number of parts and an error code in answers.
    package var messageID: Place?
    package var segments: AnswerPath?
    package var errorCode: Place?

    /// Rules for answers, of which the first match decides; without a match the status decides.
    package var answers: [AnswerRule] = []

    /// A header whose value may contain variables.
    package struct Header: Sendable {
        package let name: String
        package let value: GatewayTemplate
    }
}
