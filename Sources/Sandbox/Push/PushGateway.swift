// SPDX-License-Identifier: Apache-2.0

import Formats
import Hummingbird
import NIOCore

/// Apple's push API, `POST /3/device/{token}`, by plain HTTP/1.1.
///
/// Source: developer.apple.com, "Sending notification requests to APNs".
struct PushGateway: Sendable {
    /// The maximum payload of a background push, in bytes.
    static let payloadLimit = 4096

    let inbox: Inbox
    let faults: FaultScript
    let record: RecordFile?

    func addRoutes(to router: Router<SandboxContext>) {
        router.post("/3/device/:token", use: take)
        for method in [HTTPRequest.Method.get, .put, .delete] {
            router.on("/3/device/:token", method: method) { _, _ in try PushError.methodNotAllowed.response() }
        }
    }

    /// Accepts a push: fault, check, record, inbox, answer.
    @Sendable
    private func take(_ request: Request, context: SandboxContext) async throws -> Response {
        let connection = FaultyConnection(channel: context.channel)
        if faults.takeCutBeforeBody(from: .apns) { return connection.cut() }
        let body: ByteBuffer
        do {
            body = try await request.body.collect(upTo: MessageIntake.bodyLimit)
        } catch is NIOTooManyBytesError {
            return try PushError.payloadTooLarge.response()
        }
        let token = try context.parameters.require("token")
        let arrival = PushArrival(request, token: token, body: body, remotePort: context.channel.remoteAddress?.port)
        let fault = faults.take(to: token, from: .apns)
        if fault == .cut(.before) { return connection.cut() }
        if let error = fault.flatMap({ PushError(scripted: $0) }) {
            try await record?.append(arrival.recorded(outcome: fault?.name ?? "", isAccepted: false))
            return try error.response(retryAfter: fault?.retryAfter)
        }
        if let error = arrival.error {
            try await record?.append(arrival.recorded(outcome: "refused_\(error.name)", isAccepted: false))
            return try error.response()
        }
        try await record?.append(arrival.recorded(outcome: fault?.name ?? "accepted", isAccepted: true))
        await inbox.acceptPush { arrival.push(sequence: $0) }
        return try await connection.deliver(answer(to: arrival), fault: fault)
    }

    private func answer(to arrival: PushArrival) -> GatewayAnswer {
        var headers = HTTPFields()
        if let name = HTTPFields.Key("apns-id") { headers[name] = arrival.identifier }
        return GatewayAnswer(status: .ok, headers: headers, body: ByteBuffer())
    }
}

/// An error answer of Apple's: `{"reason":…}`.
struct PushError: GatewayError {
    let name: String
    let status: Int

    private struct Body: Encodable {
        let reason: String
        /// The time at which the token became invalid, in milliseconds since 1970; with 410 only.
        let timestamp: Int64?
    }

    func response(retryAfter: Int?) throws -> Response {
        let body = Body(reason: name, timestamp: status == 410 ? Timestamp.now.milliseconds : nil)
        var response = try Response.json(body, status: HTTPResponse.Status(code: status))
        response.setRetryAfter(retryAfter)
        return response
    }
}

extension PushError {
    static let methodNotAllowed = PushError("MethodNotAllowed")
    static let payloadTooLarge = PushError("PayloadTooLarge")

    /// Statuses by reason (developer.apple.com, "Handling notification responses from APNs"); others are 400.
    private static let statuses = [
        "BadCertificate": 403, "BadCertificateEnvironment": 403, "ExpiredProviderToken": 403, "Forbidden": 403,
        "InvalidProviderToken": 403, "MissingProviderToken": 403, "UnrelatedKeyIdInToken": 403,
        "BadEnvironmentKeyIdInToken": 403, "BadPath": 404, "MethodNotAllowed": 405, "ExpiredToken": 410,
        "Unregistered": 410, "PayloadTooLarge": 413, "TooManyProviderTokenUpdates": 429, "TooManyRequests": 429,
        "InternalServerError": 500, "ServiceUnavailable": 503, "Shutdown": 503,
    ]

    init(_ reason: String) {
        self.init(name: reason, status: Self.statuses[reason] ?? 400)
    }

    /// The rejection for a fault; `nil` when the fault is none.
    init?(scripted fault: Fault) {
        switch fault {
        case .reason(let reason): self.init(reason)
        case .status(let status, _, _): self.init(name: Self.usualReason(of: status), status: status)
        case .error: self.init("BadDeviceToken")
        case .rate: self.init("TooManyRequests")
        default: return nil
        }
    }

    private static func usualReason(of status: Int) -> String {
        let reasons = [
            403: "InvalidProviderToken", 404: "BadPath", 405: "MethodNotAllowed", 410: "Unregistered",
            413: "PayloadTooLarge", 429: "TooManyRequests", 500: "InternalServerError", 503: "ServiceUnavailable",
        ]
        return reasons[status] ?? (status < 500 ? "BadDeviceToken" : "InternalServerError")
    }
}
