// SPDX-License-Identifier: Apache-2.0

import Formats
import Logs
import TestSupport
import TestTools
import Testing
import Verification

@testable import Courier

/// Tests adaptive routes by rounds of the fleet's reader, with a clock that the test sets.
@Suite struct RouteReadingTests {
    private static let place = RouteShares.Place(tenant: "default", region: "DE")

    private let ledger = MemoryBrakeLedger()
    private let routes = MemoryRouteLedger()
    private let log = LogRecord()
    private let policies = PolicySource(
        .test { $0.routes = Routes(fallback: .adaptive(AdaptiveRoute(providers: ["main", "backup"]))) }
    )

    private func reading() -> ConversionReading {
        ConversionReading(ledger: ledger, routes: routes, policies: policies, logger: log.logger)
    }

    /// Rounds every two seconds for a time.
    private func run(_ reading: inout ConversionReading, for seconds: Int) async throws {
        for _ in 0..<(seconds / 2) {
            ledger.advance(by: .seconds(2))
            try await reading.round()
        }
    }

    /// A minute's messages: those of the backup are approved.
    private func send(mainConverts: Bool = false) {
        let now = ledger.with { $0.now }
        ledger.add(40, at: now, prefix: nil, provider: "main", approvedAfter: mainConverts ? .seconds(9) : nil)
        ledger.add(40, at: now, prefix: nil, provider: "backup", approvedAfter: .seconds(9))
    }

    private var share: Int? { routes.with { $0.shares.places[Self.place]?.first { $0.provider == "main" }?.share } }

    @Test func `a provider that delivers nothing is silent within a minute, and the next reader goes on with it`()
        async throws
    {
        var first = reading()
        try await first.round()
        send()
        try await run(&first, for: 60)
        #expect(share == ShareRule.silentShare)
        let lines = log.lines(.routeSilent)
        #expect(lines.count == 1)
        #expect(lines.first?.fields["provider"] == .text("main") && lines.first?.fields["region"] == .text("DE"))
        #expect(lines.first?.fields["observed"] == .integer(0))
        let version = routes.with { $0.version }
        try await first.resign()
        var second = reading()
        try await run(&second, for: 300)
        #expect(share == ShareRule.silentShare)
        #expect(log.lines(.routeSilent).count == 2, "the next reader says it again, once")
        #expect(log.lines(.routeSilent).last?.fields["until"] == lines.first?.fields["until"])
        for _ in 0..<12 {
            send(mainConverts: true)
            try await run(&second, for: 60)
        }
        #expect(log.lines(.routeRecovered).count == 1)
        #expect(share == 100, "the floor: the backup has brought every code")
        #expect(routes.with { $0.version } > version)
    }

    @Test func `a silence that lasts is logged again every quarter of an hour`() async throws {
        var reading = reading()
        try await reading.round()
        // It begins with the second silence, of half an hour.
        for _ in 0..<50 {
            send()
            try await run(&reading, for: 60)
        }
        #expect((3...4).contains(log.lines(.routeSilent).count), "\(log.lines(.routeSilent).map(\.fields))")
        #expect(log.lines(.routeRecovered).isEmpty)
    }

    @Test func `shares that could not be stored are stored by the next round, and a lost lease ends the turn`()
        async throws
    {
        var reading = reading()
        try await reading.round()
        routes.with { $0.isFailing = true }
        send()
        for _ in 0..<30 { try? await run(&reading, for: 2) }
        #expect(share == nil || share == 5000)
        routes.with { $0.isFailing = false }
        try await run(&reading, for: 6)
        #expect(share == ShareRule.silentShare)
        routes.with { $0.accepts = false }
        send(mainConverts: true)
        try await run(&reading, for: 60)
        #expect(share == ShareRule.silentShare)
        #expect(log.lines(.brakeReader).count > 1)
    }

    @Test(.timeLimit(.minutes(1))) func `a worker takes over changed shares, and reads them once`() async throws {
        let source = RouteShareSource(RouteShares())
        let watch = RouteWatch(
            ledger: routes,
            policies: policies,
            source: source,
            logger: log.logger,
            every: .milliseconds(5)
        )
        let shares = RouteShares([
            Self.place: [RouteShare(provider: "main", share: 10_000, conversion: 1, deviation: 0, observations: 9)]
        ])
        let task = Task { await watch.run() }
        defer { task.cancel() }
        try await eventually("it has read once") { routes.with { $0.reads } == 1 }
        routes.with { ($0.shares, $0.version) = (shares, 1) }
        try await eventually("it follows") { source.current == shares }
        #expect(routes.with { $0.reads } == 2, "the same version is read once")
        task.cancel()
        await task.value
    }
}
