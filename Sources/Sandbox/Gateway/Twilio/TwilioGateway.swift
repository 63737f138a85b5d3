// SPDX-License-Identifier: Apache-2.0

import Formats
import Hummingbird
import NIOCore

/// The part of Twilio's Programmable Messaging API that a sender of codes uses.
struct TwilioGateway: GatewayDialect {
    static let version = "2010-04-01"

    let intake: MessageIntake
    let authToken: String?

    let provider = SandboxProvider.twilio

    /// The path of an account's messages, without the format's suffix.
    static func path(account: String) -> String {
        "/\(version)/Accounts/\(account)/Messages"
    }

    func addRoutes(to router: Router<SandboxContext>) {
        let path = Self.path(account: ":account")
        router.post(RouterPath("\(path).json")) { try await intake.take($0, $1, as: self) }
        router.get(RouterPath("\(path).json"), use: list)
        router.get(RouterPath("\(path)/:message"), use: show)
        router.post(RouterPath("\(path)/:message/Feedback.json"), use: takeFeedback)
    }

    /// Takes the report of a message's outcome, if the message was created with `ProvideFeedback`.
    @Sendable
    private func takeFeedback(_ request: Request, context: SandboxContext) async throws -> Response {
        if let error = objection(to: request) { return try error.response() }
        let sid = try context.parameters.require("message")
        let account = try context.parameters.require("account")
        guard let message = await intake.inbox.message(sid: sid)?.message, message.provider == .twilio,
            message.accountSid == account, message.providesFeedback
        else { return try TwilioError.notFound.response() }
        let body = try await request.body.collect(upTo: MessageIntake.bodyLimit)
        let outcome = FormParameters(body.readableBytesView)["Outcome"] ?? "confirmed"
        guard ["confirmed", "unconfirmed"].contains(outcome) else { return try TwilioError.invalidOutcome.response() }
        if outcome == "confirmed" { await intake.inbox.confirm(sid) }
        let uri = "\(Self.path(account: account))/\(sid)/Feedback.json"
        let answer = ["account_sid": account, "message_sid": sid, "outcome": outcome, "uri": uri]
        return try .json(answer, status: .created)
    }

    @Sendable
    private func list(_ request: Request, context: SandboxContext) async throws -> Response {
        if let error = objection(to: request) { return try error.response() }
        let account = try context.parameters.require("account")
        let pageSize = request.uri.queryParameters.get("PageSize").flatMap { Int($0) } ?? 50
        let limit = min(max(1, pageSize), 1000)
        let messages = await intake.inbox.newest(account: account, to: request.number("To"), limit: limit)
        return try .json(TwilioMessagePage(messages, account: account, pageSize: limit))
    }

    @Sendable
    private func show(_ request: Request, context: SandboxContext) async throws -> Response {
        if let error = objection(to: request) { return try error.response() }
        let name = try context.parameters.require("message")
        let sid = name.hasSuffix(".json") ? String(name.dropLast(5)) : name
        guard
            let stored = await intake.inbox.message(sid: sid), stored.message.provider == .twilio,
            stored.message.accountSid == context.parameters.get("account")
        else {
            return try TwilioError.notFound.response()
        }
        return try .json(TwilioMessage(stored))
    }
}

// MARK: The dialect

extension TwilioGateway {
    /// Requires Basic credentials, with the right password where one is set.
    func objection(to head: Request) -> (any GatewayError)? {
        guard let password = Credentials(head)?.basic?.password, authToken.map({ $0 == password }) ?? true else {
            return TwilioError.authenticate
        }
        return nil
    }

    func arrival(_ body: ByteBuffer, of request: Request, context: SandboxContext) throws -> Arrival {
        let parameters = FormParameters(body.readableBytesView)
        let callback = parameters["StatusCallback"]
        return Arrival(
            provider: .twilio,
            account: try context.parameters.require("account"),
            to: parameters["To"] ?? "",
            from: parameters["From"] ?? "",
            messagingServiceSid: parameters["MessagingServiceSid"],
            body: parameters["Body"] ?? "",
            validityPeriod: parameters["ValidityPeriod"],
            statusCallback: callback,
            reference: callback.flatMap { Self.reference(inQueryOf: $0) },
            providesFeedback: parameters["ProvideFeedback"] == "true",
            remotePort: context.channel.remoteAddress?.port
        )
    }

    func objection(to arrival: Arrival) -> (any GatewayError)? {
        if arrival.to.isEmpty { return TwilioError.noRecipient }
        if !arrival.hasPhoneNumber { return TwilioError.invalidRecipient }
        if arrival.from.isEmpty, arrival.messagingServiceSid == nil { return TwilioError.noSender }
        if arrival.body.isEmpty { return TwilioError.noBody }
        return arrival.body.unicodeScalars.count > 1600 ? TwilioError.longBody : nil
    }

    func refusal(for fault: Fault) -> (any GatewayError)? {
        switch fault {
        case .status(let status, let code, _): TwilioError(scriptedStatus: status, code: code)
        case .error(let code): TwilioError(scripted: code)
        case .reason: TwilioError(scripted: 20_400)
        case .rate: TwilioError(scripted: 20_429)
        default: nil
        }
    }

    func newIdentifier() -> String { "SM" + Identifier.hexadecimal(32) }

    func answer(to stored: Inbox.Stored) throws -> GatewayAnswer {
        GatewayAnswer(status: .created, body: try JSONLine.buffer(of: TwilioMessage(stored)))
    }

    /// The `sendId` of a callback's query, since Twilio has no field for a client reference.
    private static func reference(inQueryOf url: String) -> String? {
        guard let query = url.split(separator: "?", maxSplits: 1).dropFirst().first else { return nil }
        return FormParameters(query.prefix { $0 != "#" }.utf8)["sendId"]
    }
}

extension Request {
    /// A phone number among the query's parameters; an unescaped `+` may have become a space.
    func number(_ name: String) -> String? {
        guard let value = uri.queryParameters.get(name), !value.isEmpty else { return nil }
        return value.hasPrefix(" ") ? "+" + value.dropFirst() : value
    }
}
