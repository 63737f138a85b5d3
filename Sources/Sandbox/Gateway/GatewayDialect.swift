// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import NIOCore

/// How a provider's API reads a message and answers it.
protocol GatewayDialect: Sendable {
    var provider: SandboxProvider { get }

    /// What the provider says before it reads the body; `nil` when the credentials will do.
    func objection(to head: Request) -> (any GatewayError)?

    /// What the body asks for; throws a `GatewayError` when nobody can tell.
    func arrival(_ body: ByteBuffer, of request: Request, context: SandboxContext) throws -> Arrival

    /// What the provider says against the message.
    func objection(to arrival: Arrival) -> (any GatewayError)?

    /// The error answer of a scripted fault; `nil` when the fault is none of refusing.
    func refusal(for fault: Fault) -> (any GatewayError)?

    /// A new identity, as the provider makes them.
    func newIdentifier() -> String

    func answer(to stored: Inbox.Stored) throws -> GatewayAnswer
}

/// The answer to a message that was taken.
struct GatewayAnswer: Sendable {
    let status: HTTPResponse.Status
    var headers: HTTPFields = [.contentType: "application/json", .cacheControl: "no-store"]
    let body: ByteBuffer

    func response(body: ResponseBody) -> Response {
        Response(status: status, headers: headers, body: body)
    }
}
