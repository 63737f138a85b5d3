// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Hummingbird

/// The part of Twilio's Programmable Messaging API that a sender of codes uses.
struct TwilioGateway: Sendable {
    static let version = "2010-04-01"

    let inbox: Inbox
    let faults: FaultScript
    let record: RecordFile?
    let authToken: String?

    /// The path of an account's messages, without the format's suffix.
    static func path(account: String) -> String {
        "/\(version)/Accounts/\(account)/Messages"
    }

    func addRoutes(to router: Router<SandboxContext>) {
        let path = Self.path(account: ":account")
        router.post(RouterPath("\(path).json"), use: create)
        router.get(RouterPath("\(path).json"), use: list)
        router.get(RouterPath("\(path)/:message"), use: show)
    }

    /// Takes a message: fault, check, record, phone, answer.
    @Sendable
    private func create(_ request: Request, context: SandboxContext) async throws -> Response {
        guard isAuthorized(request) else { return try TwilioError.authenticate.response() }
        let connection = FaultyConnection(channel: context.channel)
        if faults.takeCutBeforeBody() { return connection.cut() }
        let body = try await request.body.collect(upTo: 65_536)
        let arrival = Arrival(
            account: try context.parameters.require("account"),
            parameters: FormParameters(body.readableBytesView),
            remotePort: context.channel.remoteAddress?.port
        )
        let fault = faults.take(to: arrival.to)
        if fault == .cut(.before) { return connection.cut() }
        if let (error, outcome, retryAfter) = refusal(of: arrival, fault: fault) {
            try await record(arrival, sid: nil, outcome: outcome)
            return try error.response(retryAfter: retryAfter)
        }
        let sid = Self.newMessageIdentifier()
        try await record(arrival, sid: sid, outcome: fault?.name ?? "accepted")
        let stored = await inbox.accept(
            arrival.submission,
            sid: sid,
            at: arrival.time,
            receiptFault: fault?.receiptFault
        )
        return try await connection.deliver(JSONLine.buffer(of: TwilioMessage(stored)), fault: fault)
    }

    /// The error that the message gets instead of being taken.
    private func refusal(of arrival: Arrival, fault: Fault?) -> (TwilioError, outcome: String, retryAfter: Int?)? {
        switch fault {
        case .status(let status, let code, let retryAfter):
            return (TwilioError(scriptedStatus: status, code: code), fault?.name ?? "", retryAfter)
        case .error(let code):
            return (TwilioError(scripted: code), fault?.name ?? "", nil)
        default:
            return arrival.fault.map { ($0, "refused_\($0.code)", nil) }
        }
    }

    private func record(_ arrival: Arrival, sid: String?, outcome: String) async throws {
        guard let record else { return }
        let line = try JSONLine.buffer(of: arrival.recorded(sid: sid, outcome: outcome))
        try await record.append(line.readableBytesView)
    }

    @Sendable
    private func list(_ request: Request, context: SandboxContext) async throws -> Response {
        guard isAuthorized(request) else { return try TwilioError.authenticate.response() }
        let account = try context.parameters.require("account")
        let pageSize = request.uri.queryParameters.get("PageSize").flatMap { Int($0) } ?? 50
        let limit = min(max(1, pageSize), 1000)
        let messages = await inbox.newest(account: account, to: request.number("To"), limit: limit)
        return try .json(TwilioMessagePage(messages, account: account, pageSize: limit))
    }

    @Sendable
    private func show(_ request: Request, context: SandboxContext) async throws -> Response {
        guard isAuthorized(request) else { return try TwilioError.authenticate.response() }
        let name = try context.parameters.require("message")
        let sid = name.hasSuffix(".json") ? String(name.dropLast(5)) : name
        guard
            let stored = await inbox.message(sid: sid),
            stored.message.accountSid == context.parameters.get("account")
        else {
            return try TwilioError.notFound.response()
        }
        return try .json(TwilioMessage(stored))
    }

    /// Whether the request carries Basic credentials, with the right password where one is set.
    private func isAuthorized(_ request: Request) -> Bool {
        guard
            let header = request.headers[.authorization],
            header.count > 6, header.prefix(6).lowercased() == "basic ",
            let bytes = Data(base64Encoded: String(header.dropFirst(6)))
        else { return false }
        let parts = String(decoding: bytes, as: UTF8.self).split(separator: ":", maxSplits: 1)
        guard parts.count == 2 else { return false }
        return authToken.map { $0 == parts[1] } ?? true
    }

    private static func newMessageIdentifier() -> String {
        let hexadecimal = Array("0123456789abcdef")
        return "SM" + String((0..<32).map { _ in hexadecimal[Int.random(in: 0..<16)] })
    }
}

extension Request {
    /// A phone number among the query's parameters; an unescaped `+` may have become a space.
    func number(_ name: String) -> String? {
        guard let value = uri.queryParameters.get(name), !value.isEmpty else { return nil }
        return value.hasPrefix(" ") ? "+" + value.dropFirst() : value
    }
}
