// SPDX-License-Identifier: Apache-2.0

/// How to call a gateway of any make by one HTTP request a message, and how to read its answers.
package struct GatewayConfiguration: Sendable {
    package enum Method: String, Sendable, CaseIterable {
        case post = "POST"
        case put = "PUT"
        case get = "GET"
    }

    /// What the body is; it decides how values are escaped.
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

    /// Where an answer has a word.
    package enum Place: Sendable {
        case path(AnswerPath)

        /// In a text of any kind.
        case pattern(AnswerPattern)
    }

    /// The header that most gateways with idempotency keys read.
    package static let defaultIdempotencyHeader = "Idempotency-Key"

    /// The name by which the policy's routes call it.
    package var name: String

    /// The whole address, which shows itself by its variables only, because some gateways want their key in it.
    package var url: GatewayTemplate
    package var method: Method
    package var contentType: ContentType
    package var headers: [Header]

    /// Nil where all is in the address and the headers.
    package var body: GatewayTemplate?

    /// What `{from}` and `{secret}` stand for.
    package var from: String?
    package var secret: Secret?

    /// `user:password` for the header `Authorization`.
    package var basicAuth: Secret?
    package var connection: ConnectionOptions?

    /// The header that gets the send's id, and whether the gateway sends only one message for one id.
    package var idempotencyHeader: String
    package var isIdempotent: Bool

    /// Where answers have the message's id, its number of parts and the code of an error.
    package var messageID: Place?
    package var segments: AnswerPath?
    package var errorCode: Place?

    /// What answers mean, the first that covers one deciding; then the status decides.
    package var answers: [AnswerRule]

    /// A header whose value may name variables.
    package struct Header: Sendable {
        package let name: String
        package let value: GatewayTemplate

        package init(name: String, value: GatewayTemplate) {
            self.name = name
            self.value = value
        }
    }

    package init(
        name: String,
        url: GatewayTemplate,
        method: Method = .post,
        contentType: ContentType = .json,
        headers: [Header] = [],
        body: GatewayTemplate?,
        from: String? = nil,
        secret: Secret? = nil,
        basicAuth: Secret? = nil,
        connection: ConnectionOptions? = nil,
        idempotencyHeader: String = GatewayConfiguration.defaultIdempotencyHeader,
        isIdempotent: Bool = false,
        messageID: Place? = nil,
        segments: AnswerPath? = nil,
        errorCode: Place? = nil,
        answers: [AnswerRule] = []
    ) {
        self.name = name
        self.url = url
        self.method = method
        self.contentType = contentType
        self.headers = headers
        self.body = body
        self.from = from
        self.secret = secret
        self.basicAuth = basicAuth
        self.connection = connection
        self.idempotencyHeader = idempotencyHeader
        self.isIdempotent = isIdempotent
        self.messageID = messageID
        self.segments = segments
        self.errorCode = errorCode
        self.answers = answers
    }
}
