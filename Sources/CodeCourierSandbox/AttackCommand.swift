// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import KafkaClient
import Sandbox
import UnixSignals

/// Sends the requests of an attack to a fleet with simulated providers, to show its brake and its budgets at work.
struct AttackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attack",
        abstract: "Requests codes that nobody types in, as an attacker does, to see brake and budgets at work.",
        discussion: """
            Only for a fleet whose providers are simulated: each request is a message. The
            numbers are of ranges that are kept for fiction. Ctrl-C ends it.

              code-courier sandbox attack --kind prefix --rate 10 --for 300

            prefix: 100 numbers of the US that differ in the last two digits, each from
            another address. range: five numbers of Germany in four prefixes of one range,
            for each of six purposes. ip: 5,000 numbers all over the US from one address.
            spread: the same, each from another address. Then the first number comes
            again. What to look at meanwhile:

              code-courier brake list --config courier.yaml
              code-courier budget status --config courier.yaml
            """
    )

    @Option(help: "prefix, range, ip or spread.")
    var kind = AttackPlan.Kind.prefix

    @Option(help: "Requests a second, 1 to 100.")
    var rate = 10

    @Option(name: .customLong("for"), help: ArgumentHelp("How long, 1 to 3600.", valueName: "seconds"))
    var seconds = 300

    @Option(help: "The broker; it must be on this machine.")
    var bootstrapServers = "127.0.0.1:9092"

    @Option(help: "The topic of requests.")
    var topic = "verification.requests"

    @Option(help: "The tenant whose policy decides.")
    var tenant = "default"

    func validate() throws {
        guard (1...100).contains(rate) else { throw ValidationError("--rate must be from 1 to 100") }
        guard (1...3600).contains(seconds) else { throw ValidationError("--for must be from 1 to 3600 seconds") }
        guard AttackPlan.isLocal(bootstrapServers) else {
            throw ValidationError("--bootstrap-servers must be on this machine, such as 127.0.0.1:9092")
        }
    }

    func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        let producer = try KafkaProducer(configuration: KafkaConfiguration(bootstrapServers: bootstrapServers))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await producer.run() }
            group.addTask { await play(with: producer) }
            group.addTask {
                for await _ in signals { return }
            }
            // The attack or a signal ends first, unless the producer fails.
            try await group.next()
            group.cancelAll()
        }
    }

    private func play(with producer: KafkaProducer) async {
        var plan = AttackPlan(kind, tenant: tenant)
        var counts = (sent: 0, failed: 0)
        let start = ContinuousClock.now
        printOutput("\(rate) requests a second to \(topic) for \(seconds) s")
        while counts.sent + counts.failed < rate * seconds, !Task.isCancelled {
            let (number, request) = plan.next()
            let record = ProducerRecord(topic: topic, key: Array(number.utf8), value: request, headers: [])
            let isTaken = await producer.send([record]).allSatisfy { $0.failure == nil }
            if isTaken { counts.sent += 1 } else { counts.failed += 1 }
            let count = counts.sent + counts.failed
            if count % (rate * 10) == 0 { report(counts) }
            // The attack's own rate, which a slow broker does not change.
            try? await Task.sleep(until: start + .seconds(1) * count / rate)
        }
        report(counts)
    }

    private func report(_ counts: (sent: Int, failed: Int)) {
        let lost = counts.failed == 0 ? "" : ", \(counts.failed) were not taken by the broker"
        printOutput("\(counts.sent) requests published\(lost)")
    }
}

extension AttackPlan.Kind: ExpressibleByArgument {}
