// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import TestTools
import Testing

@testable import Verification

@Suite struct BrakeReplayTests {
    private static let start = Timestamp.test.hour + .seconds(86_400)
    private static let prices = PriceTable(
        currency: "EUR",
        prices: [
            PriceTable.Price(provider: "main", Money(micros: 20_000), per: .segment),
            PriceTable.Price(provider: "main", region: Region("DE"), Money(micros: 100_000), per: .message),
            PriceTable.Price(provider: "main", prefix: "+49151", Money(micros: 900_000), per: .message),
        ]
    )

    private static func policy(_ mode: BrakePolicy.Mode) -> Policy {
        let tenant = Policy.test { $0.brake.mode = mode }.tenants
        return Policy(version: "test", tenants: tenant, prices: prices)
    }

    /// A day before the range with 700 approvals of 1,000.
    private static let usual: ConversionCounts = {
        let group = ConversionCounts.Group(
            hour: start - .seconds(8 * 3600),
            tenant: "default",
            region: "DE",
            provider: "",
            isConfirmed: false
        )
        let within = [70, 350, 570, 670, 695, 700]
        return ConversionCounts([group: .init(verifications: 1000, approved: 700, sends: 1000, within: within)])
    }()

    /// Verifications of one prefix, one a second, of which every n-th is approved after 30 s.
    private static func people(
        _ seconds: Range<Int>,
        prefix: Int64,
        approvingEvery every: Int? = nil,
        sends: Int = 1,
        isConfirmed: Bool = false
    ) -> [ConversionSample] {
        var random = TestSeed(seed: UInt64(bitPattern: prefix))
        return seconds.map { second in
            let isApproved = every.map { second % $0 == 0 } ?? false
            return ConversionSample(
                id: .version7(at: start + .seconds(second), using: &random),
                region: "DE",
                client: nil,
                prefix: prefix,
                range: prefix,
                isConfirmed: isConfirmed,
                outcome: isApproved ? .approved : .open,
                provider: "main",
                sends: sends,
                approvedAfter: isApproved ? .seconds(30) : nil
            )
        }
    }

    /// Plays verifications in slices of a minute, up to two hours after the start.
    private func replay(
        _ samples: [ConversionSample],
        _ policy: Policy = policy(.enforce),
        hours: ConversionCounts = usual
    ) -> BrakeReplayReport {
        var replay = BrakeReplay(policy, hours: hours, from: Self.start)
        defer { replay.removeAll() }
        var slice = Self.start - BrakeReplay.warmUp
        while slice < Self.start + .seconds(7200) {
            let end = slice + .seconds(60)
            let part = samples.filter { $0.id.version7Time.map { $0 >= slice && $0 < end } ?? false }
            replay.play(["default": part], to: end)
            slice = end
        }
        return replay.report
    }

    @Test func `an attack is blocked as it would have been, and its money is not spent`() throws {
        let honest = Self.people(0..<3600, prefix: 1, approvingEvery: 2)
        let report = replay(Self.people(600..<1800, prefix: 7, sends: 2) + honest)
        let tenant = try #require(report.tenants["default"])
        #expect(tenant.all.verifications == 4800 && tenant.all.messages == 6000)
        let (key, scope) = try #require(tenant.scopes.first { $0.key == BrakeKey(.prefix, 7) })
        let first = try #require(scope.blocks.first)
        #expect(first.from > Self.start + .seconds(600) && first.from <= Self.start + .seconds(690))
        #expect(first.until == first.from + .seconds(300) && first.shortfall.observed == 0)
        #expect(scope.blocks.count > 1 && scope.region == "DE" && key.scope == .prefix)
        // Only what left before the block, and probes.
        #expect(tenant.refused.verifications > 1100 && tenant.refused.approved == 0)
        #expect(tenant.refused.messages == 2 * tenant.refused.verifications)
        #expect(tenant.refused.cost == Money(micros: 100_000 * Int64(tenant.refused.messages)))
        #expect(tenant.recorded == BrakeReplayReport.Tally() && tenant.probes > 0 && !tenant.wasAsleep)
        #expect(tenant.scopes[BrakeKey(.prefix, 1)] == nil)
        #expect(report.first == Self.start && report.last == Self.start + .seconds(3599))
    }

    @Test func `without an attack nobody is refused`() throws {
        let report = replay(Self.people(0..<3600, prefix: 1, approvingEvery: 2))
        let tenant = try #require(report.tenants["default"])
        #expect(tenant.scopes.isEmpty && tenant.refused.verifications == 0 && tenant.all.approved == 1800)
    }

    @Test func `the honest people of a blocked prefix are counted, confirmed ones are not refused`() throws {
        let attack = Self.people(0..<1200, prefix: 7)
        let honest = Self.people(605..<606, prefix: 7, approvingEvery: 1)
        let confirmed = Self.people(607..<608, prefix: 7, approvingEvery: 1, isConfirmed: true)
        let tenant = try #require(replay(attack + honest + confirmed).tenants["default"])
        #expect(tenant.all.approved == 2 && tenant.refused.approved == 1)
        #expect(tenant.scopes[BrakeKey(.prefix, 7)]?.refused.approved == 1)
    }

    @Test func `in record mode all is sent, and what would be refused is told; enforced it would be refused`() throws {
        let attack = Self.people(0..<1200, prefix: 7)
        let policy = Self.policy(.record)
        let recorded = try #require(replay(attack, policy).tenants["default"])
        #expect(recorded.refused.verifications == 0 && recorded.recorded.verifications > 1000)
        #expect(recorded.scopes[BrakeKey(.prefix, 7)]?.recorded.verifications == recorded.recorded.verifications)
        let rules = try #require(policy.tenants["default"]).brake
        #expect(rules.enforced.mode == .enforce && BrakePolicy(mode: .off).enforced.mode == .off)
        let scopes = BrakePolicy(scopes: [.ip: .off, .prefix: .record]).enforced.scopes
        #expect(scopes == [.ip: .off, .prefix: .enforce])
        let enforced = try #require(replay(attack, Self.policy(rules.enforced.mode)).tenants["default"])
        #expect(enforced.refused.verifications > 1000 && enforced.recorded.verifications == 0)
    }

    @Test func `a tenant with too few approvals only records`() throws {
        let tenant = try #require(
            replay(Self.people(0..<1200, prefix: 7), hours: ConversionCounts()).tenants["default"]
        )
        #expect(tenant.wasAsleep && tenant.refused.verifications == 0 && tenant.recorded.verifications > 1000)
    }

    @Test func `an approval counts from its own time on`() throws {
        // Each is approved after 20 minutes: too late for the judge.
        let late = Self.people(0..<600, prefix: 7).map { sample in
            ConversionSample(
                id: sample.id,
                region: "DE",
                client: nil,
                prefix: 7,
                range: 7,
                isConfirmed: false,
                outcome: .approved,
                provider: "main",
                approvedAfter: .seconds(1200)
            )
        }
        let tenant = try #require(replay(late).tenants["default"])
        #expect(tenant.refused.approved > 500)
    }

    @Test func `blocks of before the range hold at its beginning, and only the range is counted`() throws {
        let tenant = try #require(replay(Self.people(-600..<60, prefix: 7)).tenants["default"])
        #expect(tenant.all.verifications == 60 && tenant.refused.verifications > 50)
        let first = try #require(tenant.scopes[BrakeKey(.prefix, 7)]?.blocks.first)
        #expect(first.from < Self.start)
    }

    @Test func `messages that never left cost nothing and are no evidence`() throws {
        let unsent = Self.people(0..<600, prefix: 7).map { sample in
            ConversionSample(
                id: sample.id,
                region: "DE",
                client: nil,
                prefix: 7,
                range: 7,
                isConfirmed: false,
                outcome: .unsent
            )
        }
        let tenant = try #require(replay(unsent).tenants["default"])
        #expect(tenant.scopes.isEmpty && tenant.all.messages == 0 && tenant.all.cost == .zero)
    }

    @Test func `a tenant that the policy does not have is only counted`() throws {
        var replay = BrakeReplay(Self.policy(.enforce), hours: Self.usual, from: Self.start)
        defer { replay.removeAll() }
        replay.play(["gone": Self.people(0..<1200, prefix: 7)], to: Self.start + .seconds(3600))
        let tenant = try #require(replay.report.tenants["gone"])
        #expect(tenant.all.verifications == 1200 && tenant.scopes.isEmpty)
    }
}
