// SPDX-License-Identifier: Apache-2.0

import Formats
import Ledger
import TestSupport
import Verification

/// A single worker that handles one request at a time, with a clock that only the test moves.
struct RuleDesk {
    let clocked: ClockedDatabase
    var worker: RuleWorker
    private(set) var now: Timestamp
    private(set) var claim: ClaimedSend?
    private var requestCount = 0

    static let tenant = "t"

    init(_ clocked: ClockedDatabase, _ policy: Policy, at now: Timestamp = .test) {
        self.clocked = clocked
        worker = clocked.worker(policy)
        self.now = now
    }

    static func with<Result>(
        _ policy: Policy,
        _ body: (inout RuleDesk) async throws -> Result
    ) async throws -> Result {
        try await ClockedDatabase.with(connections: 2) { clocked in
            var desk = RuleDesk(clocked, policy)
            return try await body(&desk)
        }
    }

    mutating func move(to time: Timestamp) async throws {
        now = time
        try await clocked.set(time)
    }

    mutating func request(_ change: (inout ModelRequest) -> Void = { _ in }) -> ModelRequest {
        requestCount += 1
        var request = ModelRequest(id: "r\(requestCount)", tenant: Self.tenant, requestedAt: now)
        change(&request)
        return request
    }

    /// Sends one request, and returns `send 1 of code 1` or the reason of its refusal.
    ///
    /// A send gets its outcome at once.
    mutating func ask(
        settle outcome: SendDisposition? = .sent,
        _ change: (inout ModelRequest) -> Void = { _ in }
    ) async throws -> String {
        let asked = request(change)
        return try await answers([asked], settle: outcome).first ?? "nothing"
    }

    /// Sends requests in one batch, and returns the answers in order, those of sends first.
    mutating func answers(_ requests: [ModelRequest], settle outcome: SendDisposition? = .sent) async throws -> [String]
    {
        let records = requests.map { request in
            requestCount += 1
            return request.record(offset: Int64(requestCount))
        }
        let recorded = try await worker.intake(records, at: now)
        let answers = try await worker.ledger.publishAll(recorded.outbox)
        claim = recorded.value.last ?? claim
        if let outcome, !recorded.value.isEmpty {
            let settled = try await worker.ledger.record(recorded.value.map { SendResult($0, outcome) })
            try await worker.ledger.published(settled.outbox)
        }
        return recorded.value.map { "send \($0.reference.number) of code \($0.generation)" }
            + answers.map { $0.json?.text("reason") ?? "unreadable" }
    }

    /// Guesses `count` times for the newest send.
    func guess(_ count: Int = 1, isRight: Bool) async throws -> [String] {
        guard let claim else { return [] }
        let guesses = (0..<count).map { _ in Guess(claim: claim, isRight: isRight) }
        return try await clocked.check(guesses).map(\.status)
    }
}

extension Policy {
    /// A policy with one tenant, no limits and all regions.
    static func desk(version: String = "desk.1", _ change: (inout TenantPolicy) -> Void = { _ in }) -> Policy {
        var tenant = TenantPolicy(
            appName: "Acme",
            regions: RegionPolicy(.allowByDefault(disallowed: [])),
            limits: LimitPolicy(perRecipient: [], perIP: [], perTenant: []),
            routes: Routes(fallback: ["main"])
        )
        change(&tenant)
        return Policy(version: version, tenants: [RuleDesk.tenant: tenant])
    }
}

extension Duration {
    static let edge = Duration.microseconds(1)
}
