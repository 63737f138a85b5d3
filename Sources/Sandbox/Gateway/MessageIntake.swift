// SPDX-License-Identifier: Apache-2.0

import Hummingbird

/// Accepts text messages in the same steps for each provider: fault, check, record, inbox, answer.
struct MessageIntake: Sendable {
    /// The maximum size of a body, in bytes.
    static let bodyLimit = 65_536

    let inbox: Inbox
    let faults: FaultScript
    let record: RecordFile?

    func take(_ request: Request, _ context: SandboxContext, as dialect: any GatewayDialect) async throws -> Response {
        if let error = dialect.objection(to: request) { return try error.response() }
        let connection = FaultyConnection(channel: context.channel)
        if faults.takeCutBeforeBody(from: dialect.provider) { return connection.cut() }
        let body = try await request.body.collect(upTo: Self.bodyLimit)
        let arrival: Arrival
        do {
            arrival = try dialect.arrival(body, of: request, context: context)
        } catch let error as any GatewayError {
            return try error.response()
        }
        let fault = faults.take(to: arrival.to, from: dialect.provider)
        if fault == .cut(.before) { return connection.cut() }
        if let refusal = refusal(of: arrival, fault: fault, dialect) {
            return try await refuse(arrival, refusal)
        }
        switch await inbox.claim(dialect.newIdentifier(), for: arrival) {
        case .new(let sid):
            let stored = try await store(arrival, as: sid, fault: fault)
            return try await connection.deliver(dialect.answer(to: stored), fault: fault)
        case .repeated(let stored):
            let line = arrival.recorded(sid: stored.message.sid, outcome: "repeated", isAccepted: false)
            try await record?.append(line)
            return try await connection.deliver(dialect.answer(to: stored), fault: fault)
        case .conflict:
            let error = GenericError.keyConflict
            return try await refuse(arrival, Refusal(error: error, outcome: "refused_\(error.name)"))
        }
    }

    private struct Refusal {
        let error: any GatewayError
        let outcome: String
        var retryAfter: Int?
    }

    /// The error for a message that is rejected; `nil` for an accepted one.
    private func refusal(of arrival: Arrival, fault: Fault?, _ dialect: any GatewayDialect) -> Refusal? {
        if let fault, let error = dialect.refusal(for: fault) {
            return Refusal(error: error, outcome: fault.name, retryAfter: fault.retryAfter)
        }
        return dialect.objection(to: arrival).map { Refusal(error: $0, outcome: "refused_\($0.name)") }
    }

    private func refuse(_ arrival: Arrival, _ refusal: Refusal) async throws -> Response {
        try await record?.append(arrival.recorded(sid: nil, outcome: refusal.outcome, isAccepted: false))
        return try refusal.error.response(retryAfter: refusal.retryAfter)
    }

    private func store(_ arrival: Arrival, as sid: String, fault: Fault?) async throws -> Inbox.Stored {
        do {
            let line = arrival.recorded(sid: sid, outcome: fault?.name ?? "accepted", isAccepted: true)
            try await record?.append(line)
        } catch {
            await inbox.release(arrival)
            throw error
        }
        return await inbox.accept(arrival, sid: sid, receiptFault: fault?.receiptFault)
    }
}
