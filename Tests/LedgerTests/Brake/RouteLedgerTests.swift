// SPDX-License-Identifier: Apache-2.0

import Formats
import PostgresClient
import TestSupport
import Testing
import Verification

@testable import Ledger

@Suite struct RouteLedgerTests {
    private static let reader = UUIDValue(1)

    private static func share(_ provider: String, _ share: Int, silent: Bool = false) -> RouteShare {
        RouteShare(
            provider: provider,
            share: share,
            conversion: 0.5,
            deviation: 0.01,
            observations: 12.5,
            silence: silent ? .init(since: .test, until: .test + .seconds(900)) : nil
        )
    }

    @Test func `shares are stored as a whole, in the order of their route, and raise the version`() async throws {
        try await LedgerDatabase.with { database in
            let ledger = database.ledger()
            let germany = RouteShares.Place(tenant: "default", region: "DE")
            let others = RouteShares.Place(tenant: "default", region: "")
            let first = RouteShares([
                germany: [Self.share("main", 9000), Self.share("backup", 1000)],
                others: [Self.share("main", 50, silent: true), Self.share("backup", 9950)],
            ])
            #expect(try await ledger.store(first, by: Self.reader) == false, "it is no reader")
            _ = try await ledger.elect(Self.reader, lease: .seconds(60), judgedTo: nil)
            let version = try await ledger.routesVersion()
            #expect(try await ledger.store(first, by: Self.reader))
            #expect(try await ledger.routeShares() == first)
            #expect(try await ledger.routesVersion() == version + 1)
            let second = RouteShares([germany: [Self.share("backup", 10_000)]])
            #expect(try await ledger.store(second, by: Self.reader))
            #expect(try await ledger.routeShares() == second)
            #expect(try await ledger.routesVersion() == version + 2)
        }
    }

    @Test func `first messages are added to their hour and read by provider`() async throws {
        try await LedgerDatabase.with { database in
            let ledger = database.ledger()
            _ = try await ledger.elect(Self.reader, lease: .seconds(60), judgedTo: nil)
            let group = ConversionCounts.Group(
                hour: Timestamp.test.hour,
                tenant: "default",
                region: "DE",
                provider: "main",
                isConfirmed: true
            )
            var count = ConversionCounts.Count()
            (count.firsts, count.firstsApproved) = (7, 5)
            let counts = ConversionCounts([group: count])
            #expect(try await ledger.add(counts, from: nil, upTo: .test, by: Self.reader))
            #expect(try await ledger.add(counts, from: .test, upTo: .test + .seconds(60), by: Self.reader))
            let read = try await ledger.routeHours(since: Timestamp.test.hour).groups
            #expect(read.keys.map(\.self) == [group])
            #expect(read[group]?.firsts == 14 && read[group]?.firstsApproved == 10)
            #expect(try await ledger.routeHours(since: Timestamp.test.hour + .seconds(3600)).isEmpty)
        }
    }

    @Test func `the first provider of a verification is the one that took its first message`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let now = try await worker.now()
            _ = try await worker.intake([.request(id: "r", at: now)])
            for (used, first, last) in [
                ("main backup", "main", "backup"), ("main", "main", "main"), ("main !main", "main", "main"),
            ] {
                try await database.script("UPDATE courier.verification SET used_providers = '\(used)'")
                let samples = try await worker.ledger.conversions(from: now - .seconds(60), to: now + .seconds(60))
                let sample = try #require(samples["default"]?.first)
                #expect(sample.firstProvider == first && sample.provider == last)
            }
            try await database.script("UPDATE courier.verification SET used_providers = NULL")
            let samples = try await worker.ledger.conversions(from: now - .seconds(60), to: now + .seconds(60))
            #expect(samples["default"]?.first?.firstProvider == nil)
        }
    }
}
