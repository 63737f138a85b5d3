// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import NIOCore

/// A provider's API: parses messages and formats answers.
protocol GatewayDialect: Sendable {
    var provider: SandboxProvider { get }

    /// The error before the body is read; `nil` when the credentials are valid.
    func objection(to head: Request) -> (any GatewayError)?

    /// Parses the message; throws a `GatewayError` when it is incomplete.
    func arrival(_ body: ByteBuffer, of request: Request, context: SandboxContext) throws -> Arrival

    /// The provider's error for an invalid message; `nil` for a valid one.
    func objection(to arrival: Arrival) -> (any GatewayError)?

    /// The error answer of a scripted fault; `nil` when the fault is no rejection.
    func refusal(for fault: Fault) -> (any GatewayError)?

    /// A new message id in the provider's format.
    func newIdentifier() -> String

    func answer(to stored: Inbox.Stored) throws -> GatewayAnswer
}

/// The answer to an accepted message.
struct GatewayAnswer: Sendable {
    let status: HTTPResponse.Status
    var headers: HTTPFields = [.contentType: "application/json", .cacheControl: "no-store"]
    let body: ByteBuffer

    func response(body: ResponseBody) -> Response {
        Response(status: status, headers: headers, body: body)
    }
}

/// An error answer in a provider's format.
protocol GatewayError: Error {
    /// The suffix after `refused_` in the record file.
    var name: String { get }

    func response(retryAfter: Int?) throws -> Response
}

extension GatewayError {
    func response() throws -> Response { try response(retryAfter: nil) }
}

extension Response {
    /// Sets the header `Retry-After`, in seconds.
    mutating func setRetryAfter(_ seconds: Int?) {
        if let seconds { headers[.retryAfter] = String(seconds) }
    }
}
