// SPDX-License-Identifier: Apache-2.0

import Formats
import Hummingbird
import NIOCore

/// Vonage's Messages API for text by SMS, `POST /v1/messages` (developer.vonage.com, "Messages API reference").
struct VonageMessagesGateway: GatewayDialect {
    let intake: MessageIntake
    let authToken: String?

    let provider = SandboxProvider.vonageMessages

    func addRoutes(to router: Router<SandboxContext>) {
        router.post("/v1/messages") { try await intake.take($0, $1, as: self) }
    }

    /// Requires Basic credentials or a token in the format of a JWT.
    func objection(to head: Request) -> (any GatewayError)? {
        let credentials = Credentials(head)
        if let password = credentials?.basic?.password, authToken.map({ $0 == password }) ?? true { return nil }
        return credentials?.bearer.flatMap { TokenShape($0) } == nil ? VonageProblem.unauthorized : nil
    }

    func arrival(_ body: ByteBuffer, of request: Request, context: SandboxContext) throws -> Arrival {
        guard let object = JSONValue(body: body.readableBytesView)?.object else { throw VonageProblem.invalid("body") }
        for (name, value) in [("channel", "sms"), ("message_type", "text")] where object[name]?.string != value {
            throw VonageProblem.invalid(name)
        }
        let credentials = Credentials(request)
        let application = credentials?.bearer.flatMap { TokenShape($0)?.claims["application_id"]?.string }
        return Arrival(
            provider: .vonageMessages,
            account: credentials?.basic?.name ?? application ?? "",
            to: Arrival.number(withoutPlus: object["to"]?.string ?? ""),
            from: object["from"]?.string ?? "",
            body: object["text"]?.string ?? "",
            validityPeriod: object["ttl"]?.text,
            statusCallback: object["webhook_url"]?.text,
            reference: object["client_ref"]?.text,
            remotePort: context.channel.remoteAddress?.port
        )
    }

    func objection(to arrival: Arrival) -> (any GatewayError)? {
        if !arrival.hasPhoneNumber { return VonageProblem.invalid("to") }
        if arrival.from.isEmpty { return VonageProblem.invalid("from") }
        if arrival.body.isEmpty || arrival.body.count > 1000 { return VonageProblem.invalid("text") }
        if let period = arrival.validityPeriod, !(Int(period).map { $0 > 0 } ?? false) {
            return VonageProblem.invalid("ttl")
        }
        if let reference = arrival.reference, reference.count > 100 { return VonageProblem.invalid("client_ref") }
        return nil
    }

    func refusal(for fault: Fault) -> (any GatewayError)? {
        switch fault {
        case .status(let status, let code, _): VonageProblem(scriptedStatus: status, code: code)
        case .error(let code): VonageProblem(scriptedStatus: code == 1000 ? 429 : 422, code: code)
        case .reason: VonageProblem(scriptedStatus: 422, code: nil)
        case .rate: VonageProblem(scriptedStatus: 429, code: 1000)
        default: nil
        }
    }

    func newIdentifier() -> String { Identifier.uuid() }

    func answer(to stored: Inbox.Stored) throws -> GatewayAnswer {
        GatewayAnswer(status: .accepted, body: try JSONLine.buffer(of: ["message_uuid": stored.message.sid]))
    }
}

/// An error answer of Vonage's Messages API, in the format of RFC 7807.
struct VonageProblem: GatewayError {
    let type: String
    let title: String
    let detail: String
    let status: Int
    /// The parameter that is invalid.
    var parameter: String?

    var name: String { type.split(separator: "#").last.map { String($0) } ?? "" }

    private struct Body: Encodable {
        struct Parameter: Encodable {
            let name: String
            let reason: String
        }

        let type: String
        let title: String
        let detail: String
        let instance: String
        let parameters: [Parameter]?

        private enum CodingKeys: String, CodingKey {
            case type, title, detail, instance
            case parameters = "invalid_parameters"
        }
    }

    func response(retryAfter: Int?) throws -> Response {
        let parameters = parameter.map { [Body.Parameter(name: $0, reason: "Invalid value")] }
        let body = Body(
            type: type,
            title: title,
            detail: detail,
            instance: Identifier.uuid(),
            parameters: parameters
        )
        var response = try Response.json(body, status: HTTPResponse.Status(code: status))
        response.headers[.contentType] = "application/problem+json"
        response.setRetryAfter(retryAfter)
        return response
    }
}

extension VonageProblem {
    private static let errors = "https://developer.vonage.com/api-errors"

    static let unauthorized = VonageProblem(
        type: "\(errors)#unauthorized",
        title: "Unauthorized",
        detail: "You did not provide correct credentials.",
        status: 401
    )

    static func invalid(_ parameter: String) -> VonageProblem {
        VonageProblem(
            type: "\(errors)/messages#1150",
            title: "Invalid params",
            detail: "The value of one or more parameters is invalid.",
            status: 422,
            parameter: parameter
        )
    }

    init(scriptedStatus status: Int, code: Int?) {
        let texts: [Int: String] = [
            401: "Unauthorized", 402: "Payment Required", 403: "Forbidden", 422: "Unprocessable Entity",
            429: "Rate Limit Hit", 500: "Internal Server Error", 503: "Service Unavailable",
        ]
        let general = status == 429 ? 1000 : status >= 500 ? 1500 : 1020
        self.init(
            type: "\(Self.errors)/messages#\(code ?? general)",
            title: code == 1000 ? "Throttled" : texts[status] ?? "Scripted error",
            detail: status == 429 ? "Please wait, then retry your request" : "Scripted error",
            status: status
        )
    }
}
