// SPDX-License-Identifier: Apache-2.0

import Formats
import Hummingbird
import NIOCore

/// A gateway of no particular provider, `POST /http/messages`, which honours `Idempotency-Key`.
///
/// The body is JSON: `{to, text, from?, reference?, ttlSeconds?, callback?}`. A repeated key gets the first answer and
/// adds nothing to the inbox; with another message it is rejected (draft-ietf-httpapi-idempotency-key-header). Unless a
/// token is set, credentials are not checked.
struct GenericGateway: GatewayDialect {
    let intake: MessageIntake
    let authToken: String?

    let provider = SandboxProvider.http

    func addRoutes(to router: Router<SandboxContext>) {
        router.post("/http/messages") { try await intake.take($0, $1, as: self) }
    }

    func objection(to head: Request) -> (any GatewayError)? {
        guard let authToken else { return nil }
        let credentials = Credentials(head)
        let given = credentials?.bearer ?? credentials?.basic?.password
        return given == authToken ? nil : GenericError(name: "unauthorized", status: 401)
    }

    func arrival(_ body: ByteBuffer, of request: Request, context: SandboxContext) throws -> Arrival {
        guard let object = JSONValue(body: body.readableBytesView)?.object else {
            throw GenericError(name: "invalid_body", status: 400)
        }
        let key = request.headers.first { $0.name.canonicalName == "idempotency-key" }.map(\.value)
        return Arrival(
            provider: .http,
            account: Credentials(request)?.basic?.name ?? "",
            to: object["to"]?.string ?? "",
            from: object["from"]?.string ?? "",
            body: object["text"]?.string ?? "",
            validityPeriod: object["ttlSeconds"]?.text,
            statusCallback: object["callback"]?.text,
            reference: object["reference"]?.text ?? key,
            idempotencyKey: key.flatMap { $0.isEmpty ? nil : $0 },
            remotePort: context.channel.remoteAddress?.port
        )
    }

    func objection(to arrival: Arrival) -> (any GatewayError)? {
        if !arrival.hasPhoneNumber { return GenericError(name: "invalid_to", status: 422) }
        if arrival.body.isEmpty { return GenericError(name: "invalid_text", status: 422) }
        let key = arrival.idempotencyKey ?? ""
        return key.utf8.count > 255 ? GenericError(name: "invalid_key", status: 400) : nil
    }

    func refusal(for fault: Fault) -> (any GatewayError)? {
        switch fault {
        case .status(let status, let code, _):
            GenericError(name: code.map { String($0) } ?? "status_\(status)", status: status)
        case .error(let code): GenericError(name: String(code), status: 422)
        case .reason(let reason): GenericError(name: reason, status: 422)
        case .rate: GenericError(name: "throttled", status: 429)
        default: nil
        }
    }

    func newIdentifier() -> String { "msg_" + Identifier.hexadecimal(24) }

    func answer(to stored: Inbox.Stored) throws -> GatewayAnswer {
        let message = stored.message
        let answer = Answer(id: message.sid, segments: message.segments, reference: message.reference)
        return GatewayAnswer(status: .accepted, body: try JSONLine.buffer(of: answer))
    }

    private struct Answer: Encodable {
        let id: String
        let status = "queued"
        let segments: Int
        let reference: String?
    }
}

/// An error answer of the generic gateway: `{"error":{"code":…}}`.
struct GenericError: GatewayError {
    let name: String
    let status: Int

    static let keyConflict = GenericError(name: "idempotency_key_reused", status: 422)

    func response(retryAfter: Int?) throws -> Response {
        var response = try Response.json(["error": ["code": name]], status: HTTPResponse.Status(code: status))
        response.setRetryAfter(retryAfter)
        return response
    }
}
