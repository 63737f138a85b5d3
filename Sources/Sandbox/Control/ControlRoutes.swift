// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Hummingbird

/// The sandbox's own JSON API, for tests and for the web page.
struct ControlRoutes: Sendable {
    let inbox: Inbox
    let faults: FaultScript
    let broadcast: Broadcast

    func addRoutes(to router: Router<SandboxContext>) {
        let group = router.group("/sandbox")
        group.get("/health", use: health)
        group.get("/messages", use: messages)
        group.delete("/messages", use: clearMessages)
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
        let streams: Int
    }

    @Sendable
    private func health(_ request: Request, context: SandboxContext) async throws -> Response {
        try .json(Health(accepted: await inbox.accepted, kept: await inbox.kept, streams: broadcast.count))
    }

    @Sendable
    private func messages(_ request: Request, context: SandboxContext) async throws -> Response {
        let messages = await inbox.messages(
            to: request.number("to"),
            after: request.integer("after") ?? 0,
            limit: request.integer("limit") ?? .max
        )
        return try .json(["messages": messages])
    }

    @Sendable
    private func clearMessages(_ request: Request, context: SandboxContext) async throws -> Response {
        await inbox.clear()
        return Response(status: .noContent)
    }

    @Sendable
    private func receipts(_ request: Request, context: SandboxContext) async throws -> Response {
        let receipts = await inbox.receipts(
            after: request.integer("after") ?? 0,
            limit: request.integer("limit") ?? .max
        )
        return try .json(["receipts": receipts])
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
            let rule = faults.add(try wanted.checked(), to: wanted.match?.to, times: wanted.times ?? 1)
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
    fileprivate func integer(_ name: String) -> Int? {
        uri.queryParameters.get(name).flatMap { Int($0) }
    }
}
