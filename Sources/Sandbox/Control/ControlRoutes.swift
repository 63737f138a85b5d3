// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Hummingbird

/// The sandbox's own JSON API, for tests and for the web page.
struct ControlRoutes: Sendable {
    let inbox: Inbox
    let faults: FaultScript
    let broadcast: Broadcast
    /// The port of the mail server.
    let smtpPort: Int
    let slot: FleetSlot
    let poster: CallbackPoster?

    func addRoutes(to router: Router<SandboxContext>) {
        let group = router.group("/sandbox")
        group.get("/health", use: health)
        group.get("/messages", use: messages)
        group.delete("/messages", use: clearMessages)
        group.get("/emails", use: emails)
        group.get("/emails/:sequence/html", use: emailHTML)
        group.get("/pushes", use: pushes)
        group.get("/receipts", use: receipts)
        group.get("/faults", use: listFaults)
        group.post("/faults", use: addFault)
        group.delete("/faults", use: clearFaults)
        group.get("/events", use: EventStream(inbox: inbox, broadcast: broadcast).respond)
    }

    private struct Health: Encodable {
        let status = "ok"
        let accepted: Int
        let kept: Int
        let emails: Int
        let pushes: Int
        let streams: Int
        let smtpPort: Int
        /// The fleet's note; absent if there is no fleet.
        let fleet: String?
        /// The receipts posted to callbacks; absent if none are.
        let callbacks: CallbackPoster.Counts?
    }

    @Sendable
    private func health(_ request: Request, context: SandboxContext) async throws -> Response {
        let health = Health(
            accepted: await inbox.accepted,
            kept: await inbox.kept,
            emails: await inbox.acceptedEmails,
            pushes: await inbox.acceptedPushes,
            streams: broadcast.count,
            smtpPort: smtpPort,
            fleet: slot.fleet?.note,
            callbacks: poster?.counts
        )
        return try .json(health)
    }

    @Sendable
    private func messages(_ request: Request, context: SandboxContext) async throws -> Response {
        let messages = await inbox.messages(to: request.number("to"), after: request.after, limit: request.limit)
        return try .json(["messages": messages])
    }

    @Sendable
    private func clearMessages(_ request: Request, context: SandboxContext) async throws -> Response {
        await inbox.clear()
        return Response(status: .noContent)
    }

    @Sendable
    private func emails(_ request: Request, context: SandboxContext) async throws -> Response {
        let emails = await inbox.emails(to: request.text("to"), after: request.after, limit: request.limit)
        return try .json(["emails": emails])
    }

    /// Serves an e-mail's HTML as a separate page that may do nothing: no script, no form, no network access.
    ///
    /// Only the web inbox may frame it; opened alone it has an origin of its own, too.
    @Sendable
    private func emailHTML(_ request: Request, context: SandboxContext) async throws -> Response {
        guard
            let sequence = context.parameters.get("sequence").flatMap({ Int($0) }),
            let html = await inbox.email(sequence: sequence)?.html
        else { return Response(status: .notFound) }
        var headers: HTTPFields = [.contentType: "text/html; charset=utf-8", .cacheControl: "no-store"]
        headers[.contentSecurityPolicy] =
            "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
            + "form-action 'none'; frame-ancestors 'self'"
        headers[.xContentTypeOptions] = "nosniff"
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: html)))
    }

    @Sendable
    private func pushes(_ request: Request, context: SandboxContext) async throws -> Response {
        let pushes = await inbox.pushes(to: request.text("token"), after: request.after, limit: request.limit)
        return try .json(["pushes": pushes])
    }

    @Sendable
    private func receipts(_ request: Request, context: SandboxContext) async throws -> Response {
        try .json(["receipts": await inbox.receipts(after: request.after, limit: request.limit)])
    }

    @Sendable
    private func listFaults(_ request: Request, context: SandboxContext) async throws -> Response {
        try .json(["faults": faults.rules.map { FaultRequest($0) }])
    }

    @Sendable
    private func addFault(_ request: Request, context: SandboxContext) async throws -> Response {
        let body = try await request.body.collect(upTo: 65_536)
        do {
            let wanted = try JSONDecoder().decode(FaultRequest.self, from: Data(body.readableBytesView))
            let fault = try wanted.checked()
            let rule = faults.add(
                fault,
                to: wanted.match?.to,
                from: wanted.match?.provider,
                times: wanted.times ?? (fault.isStanding ? -1 : 1),
                lasting: wanted.lasting.map { .milliseconds($0) }
            )
            return try .json(FaultRequest(rule), status: .created)
        } catch let error as FaultRequestError {
            return try .json(["error": error.reason], status: .badRequest)
        } catch is DecodingError {
            return try .json(["error": "not a fault"], status: .badRequest)
        }
    }

    @Sendable
    private func clearFaults(_ request: Request, context: SandboxContext) async throws -> Response {
        faults.clear()
        return Response(status: .noContent)
    }
}

extension Request {
    /// A list contains the elements with a greater sequence number.
    fileprivate var after: Int { integer("after") ?? 0 }

    fileprivate var limit: Int { integer("limit") ?? .max }

    fileprivate func text(_ name: String) -> String? { uri.queryParameters.get(name) }

    private func integer(_ name: String) -> Int? { text(name).flatMap { Int($0) } }
}
