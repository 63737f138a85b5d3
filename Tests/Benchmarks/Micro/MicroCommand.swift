// SPDX-License-Identifier: Apache-2.0

import AllocationCounter
import ArgumentParser
import Formats
import Ledger
import PhoneNumbers
import PostgresClient
import Verification

/// Measures the time, allocations and retains of each step of a request.
///
/// Allocations and retains do not depend on the machine or its load, so they judge a change: a step with more than its
/// limit fails.
struct MicroCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "micro",
        abstract: "Times the steps of a request, counts allocations and retains; prints JSON.",
        discussion: "Fails when a step allocates or retains more often than its gate allows."
    )

    @Option(help: "Requests a measurement.")
    var requests = 20_000

    @Option(help: "The step to run; all of them unless told.")
    var only: Step?

    enum Step: String, ExpressibleByArgument, CaseIterable {
        case number, decode, decide, sign, render, settle, encode
    }

    private struct Counts {
        let allocations: Double
        let retains: Double
    }

    private static let batch = 500

    /// Maximum counts of a step per request, slightly above the actual numbers.
    private static let gates: [Step: Counts] = [
        .number: Counts(allocations: 0, retains: 5),
        .decode: Counts(allocations: 12, retains: 80),
        .decide: Counts(allocations: 16, retains: 84),
        .sign: Counts(allocations: 6, retains: 13),
        .render: Counts(allocations: 4, retains: 39),
        .settle: Counts(allocations: 6, retains: 47),
        .encode: Counts(allocations: 1, retains: 84),
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
        func measure(_ step: Step, _ body: () -> Void) {
            guard only == nil || only == step, let gate = Self.gates[step] else { return }
            let counts = counts(step, body)
            if counts.allocations > gate.allocations {
                broken.append("\(step) allocates \(counts.allocations) times a request, more than \(gate.allocations)")
            }
            if counts.retains > gate.retains {
                broken.append("\(step) retains \(counts.retains) times a request, more than \(gate.retains)")
            }
        }
        let numbers = (0..<Self.batch).compactMap { PhoneNumber("+49151\(23_000_000 + $0)") }
        measure(.number) {
            for number in numbers { keep(directory.facts(of: number)) }
        }
        measure(.decode) {
            for record in records { keep(screener.candidate(for: record, now: now, using: &generator)) }
        }
        measure(.decide) {
            keep(rules.decide(candidates, facts: facts))
        }
        measure(.sign) {
            for candidate in candidates {
                let id = candidate.verificationID
                let code = VerificationCode(verification: id, generation: 1, length: 6, key: keys.code.active)
                keep(code.hash(verification: id, tenant: "default", purpose: "sign_in", key: keys.hash.active))
            }
        }
        measure(.render) {
            for send in changes.sends { keep(send.content(tenant: tenant, elapsed: .zero)) }
        }
        measure(.settle) {
            keep(OutcomeDecision.settle(results, verifications: verifications, now: now, source: rules.settings.source))
        }
        measure(.encode) {
            keep(PostgresLedger.insertVerifications(changes.insertedVerifications, Pack(behind: [])))
            keep(PostgresLedger.insertRequests(IntakeKeys(candidates).newRequests(but: [:])))
        }
        if !broken.isEmpty { throw BrokenGates(description: broken.joined(separator: "; ")) }
    }

    /// Measures a step, prints the result and returns its counts per request.
    private func counts(_ step: Step, _ body: () -> Void) -> Counts {
        body()
        let rounds = max(1, requests / Self.batch)
        var best = Duration.seconds(3600)
        let before = allocation_count()
        for _ in 0..<rounds { best = min(best, ContinuousClock().measure(body)) }
        let allocations = Double(allocation_count() - before) / Double(rounds * Self.batch)
        let retains = Double(retains(of: body)) / Double(Self.batch)
        let nanoseconds = Int(best / .nanoseconds(1)) / Self.batch
        print(
            #"{"benchmark":"\#(step)","ns":\#(nanoseconds),"allocations":\#(Self.tenths(allocations)),"#
                + #""retains":\#(Self.tenths(retains))}"#
        )
        return Counts(allocations: allocations, retains: retains)
    }

    private static func tenths(_ number: Double) -> String { "\((number * 10).rounded() / 10)" }

    /// The retains of a body: counting slows it, so it is not timed at the same time.
    private func retains(of body: () -> Void) -> UInt64 {
        start_counting_retains()
        body()
        return stop_counting_retains()
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
