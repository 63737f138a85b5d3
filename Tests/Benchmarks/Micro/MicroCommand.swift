// SPDX-License-Identifier: Apache-2.0

import AllocationCounter
import ArgumentParser
import Formats
import Ledger
import PhoneNumbers
import PostgresClient
import Verification

/// Measures the time and allocations of each step of a request.
///
/// Allocations do not depend on the machine or its load, so they judge a change: a step with more than its limit fails.
struct MicroCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "micro",
        abstract: "Times the steps of one request and counts their allocations; prints a JSON line each.",
        discussion: "Fails when a step allocates more often than its gate allows."
    )

    @Option(help: "Requests a measurement.")
    var requests = 20_000

    private static let batch = 500

    /// Maximum allocations of a step per request, slightly above the actual number.
    private static let gates: [String: Double] = [
        "number": 0, "decode": 33, "decide": 28, "sign": 12, "render": 5, "settle": 22, "encode": 1,
    ]

    func run() throws {
        let keys = CodeKeys.benchmark
        let policy = Policy.benchmark
        let directory = PhoneNumberDirectory()
        let screener = Screener(policy: policy, keys: keys, numbers: directory)
        let rules = IntakeRules(policy: policy, keys: keys, settings: .benchmark)
        var load = Load(lanes: 1)
        let now = Timestamp.clock
        var generator = SystemRandomNumberGenerator()
        let records = load.records(Self.batch, lane: 0)
        let candidates = records.map { screener.candidate(for: $0, now: now, using: &generator) }
        let facts = Self.facts(for: candidates, at: now)
        let changes = rules.decide(candidates, facts: facts)
        let results = changes.sends.map {
            SendResult(
                send: $0.reference,
                disposition: .sent,
                attempts: 1,
                attempt: .init(provider: "main", messageID: "SM1", segments: 1, encoding: "GSM-7", errorCode: nil),
                verification: $0.verification
            )
        }
        var verifications: [VerificationID: StoredVerification] = [:]
        for verification in changes.insertedVerifications { verifications[verification.id] = verification }
        let tenant = policy.tenants["default"]

        var broken: [String] = []
        func measure(_ name: String, _ body: () -> Void) {
            let allocations = self.allocations(name, body)
            if let gate = Self.gates[name], allocations > gate {
                broken.append("\(name) allocates \(allocations) times a request, at most \(gate) are allowed")
            }
        }
        let numbers = (0..<Self.batch).compactMap { PhoneNumber("+49151\(23_000_000 + $0)") }
        measure("number") {
            for number in numbers { keep(directory.facts(of: number)) }
        }
        measure("decode") {
            for record in records { keep(screener.candidate(for: record, now: now, using: &generator)) }
        }
        measure("decide") {
            keep(rules.decide(candidates, facts: facts))
        }
        measure("sign") {
            for candidate in candidates {
                let id = candidate.verificationID
                let code = VerificationCode(verification: id, generation: 1, length: 6, key: keys.code.active)
                keep(code.hash(verification: id, tenant: "default", purpose: "sign_in", key: keys.hash.active))
            }
        }
        measure("render") {
            for send in changes.sends { keep(send.content(tenant: tenant, elapsed: .zero)) }
        }
        measure("settle") {
            keep(OutcomeDecision.settle(results, verifications: verifications, now: now, source: rules.settings.source))
        }
        measure("encode") {
            keep(PostgresLedger.insertVerifications(changes.insertedVerifications, Pack(behind: [])))
            keep(PostgresLedger.insertRequests(IntakeKeys(candidates).newRequests(but: [:])))
        }
        if !broken.isEmpty { throw BrokenGates(description: broken.joined(separator: "; ")) }
    }

    /// Measures a step, prints the result and returns its allocations per request.
    private func allocations(_ name: String, _ body: () -> Void) -> Double {
        body()
        let rounds = max(1, requests / Self.batch)
        var best = Duration.seconds(3600)
        let before = allocation_count()
        for _ in 0..<rounds { best = min(best, ContinuousClock().measure(body)) }
        let allocations = Double(allocation_count() - before) / Double(rounds * Self.batch)
        let nanoseconds = Int(best / .nanoseconds(1)) / Self.batch
        print(#"{"benchmark":"\#(name)","ns":\#(nanoseconds),"allocations":\#(Int((allocations * 10).rounded()))e-1}"#)
        return allocations
    }

    private static func facts(for candidates: [Candidate], at now: Timestamp) -> IntakeFacts {
        var requests: [RequestKey: KnownRequest] = [:]
        for candidate in candidates { requests[candidate.key] = KnownRequest(of: candidate) }
        return IntakeFacts(now: now, requests: requests, slots: [:], verifications: [:])
    }
}

private struct BrokenGates: Error, CustomStringConvertible {
    let description: String
}

/// Prevents the optimizer from removing an unused value.
@inline(never)
private func keep<Value>(_ value: Value) {
    withExtendedLifetime(value) {}
}
