// SPDX-License-Identifier: Apache-2.0

import Formats
import Ledger
import PostgresClient
import TestSupport
import TestTools
import Verification

/// Random histories that share a database, a clock and batches, each with its own model.
///
/// No two histories share a tenant, so they cannot affect each other, and each decision of a batch must match the model
/// of its history.
struct HistoryGroup {
    let name: String
    let policy: Policy
    let clocked: ClockedDatabase
    let worker: RuleWorker
    var random: TestSeed
    var histories: [ModelHistory] = []
    var now: Timestamp
    private(set) var reasons: [String: Int] = [:]
    private(set) var recordCount = 0

    /// Maps verification ids to the model's names.
    private var names: [String: String] = [:]

    init(_ name: String, count: Int, seed: UInt64, in clocked: ClockedDatabase) {
        var random = TestSeed(seed: seed)
        var tenants: [String: TenantPolicy] = [:]
        var owned: [[String]] = []
        for index in 0..<count {
            let mine = (0...random.below(2)).map { "\(name).\(index).\($0)" }
            for tenant in mine { tenants[tenant] = .random(&random) }
            owned.append(mine)
        }
        policy = Policy(version: name, tenants: tenants)
        for index in 0..<count {
            let prefix = "\(name).\(index)"
            histories.append(
                ModelHistory(index, prefix: prefix, policy: policy, tenants: owned[index], random: &random)
            )
        }
        self.name = name
        self.clocked = clocked
        worker = clocked.worker(policy)
        // Some groups cross midnight, when request ids are looked up in two day partitions.
        now = .test + random.pick([.zero, .seconds(43_110), .microseconds(43_199_999_999), .seconds(43_205)])
        self.random = random
    }

    /// A difference between the model and the implementation.
    struct Disagreement: Error, CustomStringConvertible {
        let description: String

        init(_ what: String, expected: [String], actual: [String]) {
            let first = zip(expected, actual).prefix { $0 == $1 }.count
            let wanted = first < expected.count ? expected[first] : "nothing more"
            let got = first < actual.count ? actual[first] : "nothing more"
            description = "\(what), place \(first):\n  model  \(wanted)\n  ledger \(got)"
        }
    }

    mutating func run(steps: Int) async throws {
        // A request id is remembered until the second midnight, so only a group that starts at noon may skip a day.
        var daysLeft = now == .test ? 1 : 0
        for _ in 0..<steps {
            var step = random.pick([
                0, 0, 1, 1_000_000, 4_999_999, 5_000_000, 9_999_999, 10_000_000, 10_000_001, 30_000_000, 59_999_999,
                60_000_000, 60_000_000, 120_000_000, 299_999_999, 300_000_000, 600_000_000, 3_599_999_999,
                3_600_000_000,
            ])
            if daysLeft > 0, random.chance(4) {
                step = random.pick([86_399_999_999, 86_400_000_000])
                daysLeft = 0
            }
            now = now + .microseconds(step)
            try await clocked.set(now)
            if random.chance(30) { try await expire() }
            try await intake()
            if random.chance(50) { try await guess() }
            try await settle()
        }
        try await compareRows()
        // Ends open verifications, so that the next group does not expire them.
        try await clocked.database.script(
            "UPDATE courier.verification SET ended_at = expires_at WHERE ended_at IS NULL"
        )
    }

    private mutating func intake() async throws {
        var records: [(history: Int, record: ModelRecord)] = []
        for index in histories.indices {
            for record in histories[index].records(at: now, &random) { records.append((index, record)) }
        }
        mix(&records)
        recordCount += records.count
        let size = random.chance(30) ? 1 + random.below(40) : max(1, records.count)
        for start in stride(from: 0, to: records.count, by: size) {
            try await intake(Array(records[start..<min(start + size, records.count)]))
        }
    }

    /// Interleaves the histories' records and keeps the order within each history.
    private mutating func mix(_ records: inout [(history: Int, record: ModelRecord)]) {
        var order = records.map(\.history)
        for index in order.indices.dropFirst() { order.swapAt(index, random.below(index + 1)) }
        var queues = Dictionary(grouping: records, by: \.history).mapValues { $0[...] }
        records = order.compactMap { queues[$0]?.popFirst() }
    }

    private mutating func intake(_ records: [(history: Int, record: ModelRecord)]) async throws {
        var events: [ModelEvent] = []
        var claims: [(history: Int, claim: NaiveModel.Claim)] = []
        for (index, record) in records {
            switch histories[index].model.decide(record, at: now) {
            case .nothing: reasons["nothing", default: 0] += 1
            case .event(let event): events.append(event)
            case .send(let claim): claims.append((index, claim))
            }
        }
        let recorded = try await worker.intake(records.map(\.record.inbound), at: now)
        try compare("sends", claims.map { "\($0.history) \($0.claim)" }, try match(claims, recorded.value))
        try await compare("decisions", events, recorded.outbox)
    }

    /// Converts the actual claims to the model's terms, and stores each with the model's claim.
    private mutating func match(
        _ claims: [(history: Int, claim: NaiveModel.Claim)],
        _ actual: [ClaimedSend]
    ) throws -> [String] {
        var described: [String] = []
        for (index, send) in actual.enumerated() {
            guard index < claims.count else { return described + ["\(send.tenant) \(send.reference.requestID)"] }
            let (history, claim) = claims[index]
            let id = send.reference.verificationID.description
            let name = "\(self.name).\(history)v\(claim.verification)"
            if names.updateValue(name, forKey: id) ?? name != name {
                described.append("another verification than before")
            }
            try histories[history].keep(send, claim)
            described.append("\(history) \(NaiveModel.Claim(send, verification: claim.verification))")
        }
        return described
    }

    /// Compares expected and actual events; `ledger` belongs to the worker whose transaction wrote the events.
    private mutating func compare(
        _ what: String,
        _ expected: [ModelEvent],
        _ actual: [OutboxRecord],
        by ledger: PostgresLedger? = nil
    ) async throws {
        for event in expected { reasons[event.reason ?? event.status, default: 0] += 1 }
        // A verification's events are published in sequence, interleaved with other verifications' events.
        let published = try await (ledger ?? worker.ledger).publishAll(actual)
        let seen = published.map { ModelEvent($0, names: names)?.description ?? "unreadable" }
        try compare(what, expected.map(\.description).sorted(), seen.sorted())
    }

    private func compare(_ what: String, _ expected: [String], _ actual: [String]) throws {
        if expected != actual {
            throw Disagreement("\(name) at \(now.rfc3339): \(what)", expected: expected, actual: actual)
        }
    }
}

extension HistoryGroup {
    private mutating func expire() async throws {
        var expected: [ModelEvent] = []
        for index in histories.indices { expected += histories[index].model.expire(at: now) }
        let ledger = worker.ledger.anew
        var actual: [OutboxRecord] = []
        while true {
            try Task.checkCancellation()
            let swept = try await ledger.sweepExpired().outbox
            if swept.isEmpty { break }
            actual += swept
        }
        try await compare("expiries", expected, actual, by: ledger)
    }

    private mutating func guess() async throws {
        var guesses: [Guess] = []
        var expected: [GuessAnswer] = []
        for index in histories.indices where !histories[index].newest.isEmpty && random.chance(50) {
            for _ in 0...random.below(3) {
                let verification =
                    histories[index].newest.count - 1 - random.below(min(3, histories[index].newest.count))
                let guess = Guess(claim: histories[index].newest[verification], isRight: random.chance(25))
                guesses.append(guess)
                expected.append(histories[index].model.guess(verification, isRight: guess.isRight, at: now))
            }
        }
        let actual = try await clocked.check(guesses)
        try compare("guesses", expected.map(\.description), actual.map(\.description))
    }

    private mutating func settle() async throws {
        var expected: [ModelEvent] = []
        var results: [SendResult] = []
        for index in histories.indices {
            let all = histories[index].open
            histories[index].open = []
            for claim in all {
                guard random.chance(80) else {
                    histories[index].open.append(claim)
                    continue
                }
                let outcome = random.pick(SendDisposition.likely)
                results.append(SendResult(claim.actual, outcome))
                expected += histories[index].model.settle(claim.model, outcome, at: now)
            }
        }
        let recorded = try await worker.ledger.record(results)
        try await compare("outcomes", expected, recorded.outbox)
    }

    private func compareRows() async throws {
        let rows = try await clocked.database.texts(
            """
            SELECT concat_ws(' ', v.id, v.state, coalesce(v.status, '-'), v.sequence, v.generation, v.checks_used,
                v.sends_used, CASE WHEN v.send_open THEN 'open' ELSE 'closed' END,
                (extract(epoch FROM v.resend_after) * 1000000)::bigint,
                (extract(epoch FROM v.expires_at) * 1000000)::bigint)
            FROM courier.verification v WHERE v.policy_version = $1
            """,
            [.text(name)]
        )
        let actual = rows.compactMap(\.self).map { row in
            (names[String(row.prefix(36))] ?? "nobody's") + row.dropFirst(36)
        }
        let expected = histories.flatMap { history in
            history.model.verifications.indices.map { index in
                history.model.verifications[index].name + " " + history.model.row(index)
            }
        }
        try compare("rows", expected.sorted(), actual.sorted())
        let left = try await clocked.database.count("SELECT count(*) FROM courier.unpublished")
        try compare("outbox", ["0"], ["\(left)"])
    }
}

extension ModelHistory {
    /// Stores a send, whose code must be equal to the earlier code of its generation.
    mutating func keep(_ send: ClaimedSend, _ claim: NaiveModel.Claim) throws {
        if claim.verification < newest.count {
            let before = newest[claim.verification]
            if before.generation == send.generation, before.code != send.code {
                throw HistoryGroup.Disagreement("code", expected: ["the same code"], actual: ["another"])
            }
            newest[claim.verification] = send
        } else {
            newest.append(send)
        }
        open.append(OpenClaim(actual: send, model: claim))
    }
}

extension NaiveModel.Claim {
    /// Converts an actual send to the model's terms.
    init(_ send: ClaimedSend, verification: Int) {
        self.init(
            verification: verification,
            requestID: send.reference.requestID,
            number: Int(send.reference.number),
            generation: Int(send.generation),
            window: send.reference.resendWindow,
            validity: send.reference.validity,
            deadline: send.deadline,
            isFictional: send.isFictional
        )
    }
}

extension SendDisposition {
    /// Outcomes in a realistic mix, mostly successes.
    static let likely: [SendDisposition] = [
        .sent, .sent, .sent, .sent, .sent, .failed(.providerUnavailable), .failed(.providerRefused),
        .failed(.noRoute), .failed(.fraudBlocked), .unknown(.timeout), .unknown(.workerLost), .expiredUnsent,
    ]
}
