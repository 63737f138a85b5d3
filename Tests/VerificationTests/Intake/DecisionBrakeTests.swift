// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import Testing

@testable import Verification

/// Tests the toll-fraud brake within a decision; every number is a German mobile.
@Suite struct DecisionBrakeTests {
    static let phone = "+4915123456789"
    static let end = Timestamp.test + .seconds(300)
    static let client = #","client":{"ip":"192.0.2.1"}"#

    func number() throws -> PhoneNumber { try #require(PhoneNumber(Self.phone)) }

    func key(_ scope: BrakeScope) throws -> BrakeKey {
        let hash = CodeKeys.test.brake
        return switch scope {
        case .ip: BrakeKey(.ip, hash.client(try #require(IPAddress("192.0.2.1"))))
        case .prefix: BrakeKey(.prefix, hash.prefix(of: try number()))
        case .range: BrakeKey(.range, hash.range(of: try number()))
        case .region: BrakeKey(region: "DE")
        }
    }

    func block(
        _ key: BrakeKey,
        _ state: BrakeBlock.State = .blocked,
        changesAt: Timestamp = Self.end,
        beganAt: Timestamp = .test,
        trips: Int = 1
    ) -> BrakeBlock {
        BrakeBlock(
            key,
            region: "DE",
            state: state,
            beganAt: beganAt,
            changesAt: changesAt,
            length: .seconds(300),
            trips: trips,
            shortfall: Shortfall(expected: 20, observed: 0),
            refusedAt: .test
        )
    }

    func order(
        _ scope: BrakeOverride.Scope,
        _ key: Int64,
        _ action: BrakeOverride.Action,
        until: Timestamp = Self.end
    ) -> BrakeOverride {
        BrakeOverride(tenant: "default", scope: scope, key: key, action: action, until: until, reason: "test")
    }

    func tables(
        _ blocks: [BrakeBlock],
        _ orders: [BrakeOverride] = [],
        isAsleep: Bool = false,
        _ change: (inout TenantPolicy) -> Void = { _ in }
    ) -> DecisionTables {
        let tables = DecisionTables {
            $0.brake.mode = .enforce
            change(&$0)
        }
        tables.brake.replace(
            with: BrakeBoard(blocks: blocks.map { ("default", $0, isAsleep) }, overrides: orders)
        )
        return tables
    }

    func request(
        _ id: String = "r1",
        phone: String = Self.phone,
        purpose: String = "sign_in",
        isConfirmed: Bool = false,
        offset: Int64 = 0,
        at time: Timestamp = .test,
        more: String = ""
    ) -> InboundRecord {
        let recipient = #"{"phoneNumber":"\#(phone)","confirmed":\#(isConfirmed)}"#
        let json = #"{"requestId":"\#(id)","purpose":"\#(purpose)","recipient":\#(recipient)\#(Self.client)\#(more)}"#
        return .raw(json, offset: offset, at: time)
    }

    // MARK: Refusals

    @Test(arguments: BrakeScope.allCases)
    func `a blocked scope refuses until the block's end, and charges no limit`(scope: BrakeScope) throws {
        var tables = tables([block(try key(scope))]) { $0.limits = LimitPolicy() }
        let changes = tables.intake(request())
        #expect(changes.sends.isEmpty && changes.insertedVerifications.isEmpty)
        #expect(changes.windows.isEmpty && changes.admissions.isEmpty)
        let event = try #require(changes.events.first)
        #expect(event.status == "rejected" && event.reason == "toll_fraud_suspected")
        #expect(event.text("rule") == "brake.\(scope.word)" && event.text("retryAfter") == Self.end.rfc3339)
        #expect(changes.brake.stopped == [BrakeRefusal(tenant: "default", key: try key(scope), at: .test)])
        #expect(changes.brake.refused == 1)
    }

    @Test func `a request of no blocked scope is sent, and its verification has the keys`() throws {
        var tables = tables([block(BrakeKey(.prefix, 1)), block(BrakeKey(region: "FR"))])
        let changes = tables.intake(request())
        #expect(changes.sends.count == 1 && changes.brake.isEmpty)
        let keys = BrakeKeys(
            client: try key(.ip).value,
            prefix: try key(.prefix).value,
            range: try key(.range).value,
            isConfirmed: false
        )
        #expect(changes.insertedVerifications.first?.brakeKeys == keys)
    }

    @Test func `another tenant's block stops nothing`() throws {
        var tables = tables([])
        let blocks = [("other", block(try key(.prefix)), false)]
        tables.brake.replace(with: BrakeBoard(blocks: blocks, overrides: []))
        #expect(tables.intake(request()).sends.count == 1)
    }

    @Test func `limits refuse first, and the brake does not count what they refuse`() throws {
        var tables = tables([block(try key(.prefix))]) {
            $0.limits.perTenant = [RateLimit(count: 1, per: .seconds(60))]
        }
        let records = [request("r1", phone: "+4917099999999"), request("r2", offset: 1)]
        let changes = tables.intake(tables.candidates(records))
        #expect(changes.sends.count == 1)
        #expect(changes.events.map(\.reason) == ["quota_tenant"])
        #expect(changes.brake.isEmpty)
    }

    @Test func `the narrowest scope that refuses names the rule`() throws {
        var tables = tables([block(try key(.region)), block(try key(.range))])
        #expect(tables.intake(request()).events.first?.text("rule") == "brake.range")
    }

    // MARK: Never refused

    @Test(arguments: BrakeScope.allCases)
    func `confirmed people and test numbers are never refused`(scope: BrakeScope) throws {
        let blocks = [block(try key(scope))]
        var confirmed = tables(blocks)
        let changes = confirmed.intake(request(isConfirmed: true))
        #expect(changes.sends.count == 1 && changes.brake.isEmpty)
        #expect(changes.insertedVerifications.first?.brakeKeys?.isConfirmed == true)
        let test = TestNumber(number: try number(), code: "654321", until: nil)
        var fictional = tables(blocks) { $0.testNumbers = [test] }
        let sent = fictional.intake(request())
        #expect(sent.sends.count == 1 && sent.brake.isEmpty)
        #expect(sent.insertedVerifications.count == 1 && sent.insertedVerifications.first?.brakeKeys == nil)
    }

    @Test(arguments: BrakeScope.allCases)
    func `what the policy allows is never refused`(scope: BrakeScope) throws {
        let blocks = [block(try key(scope))]
        let network = try #require(IPNetwork("192.0.2.0/24"))
        var tables = tables(blocks) { $0.brake.allowedNetworks = [network] }
        #expect(tables.intake(request()).sends.count == 1)
        tables.change {
            $0.brake.mode = .enforce
            $0.brake.allowedPrefixes = ["+49151"]
        }
        #expect(tables.intake(request("r2", phone: "+4915123456780", offset: 1)).sends.count == 1)
        tables.change {
            $0.brake.mode = .enforce
            $0.brake.allowedPrefixes = ["+49152"]
        }
        #expect(tables.intake(request("r3", phone: "+4915123456781", offset: 2)).sends.isEmpty)
    }

    @Test(arguments: BrakeOverride.Scope.allCases)
    func `an order to allow counts for all scopes, until its end`(scope: BrakeOverride.Scope) throws {
        let fingerprint = CodeKeys.test.fingerprint(of: .phone(try number()))
        let key =
            switch scope {
            case .phone: BrakeSubject.recipientKey(fingerprint)
            case .ip: try key(.ip).value
            case .prefix: try key(.prefix).value
            case .range: try key(.range).value
            case .region: try key(.region).value
            }
        let blocks = try BrakeScope.allCases.map { block(try self.key($0), changesAt: Self.end + .seconds(60)) }
        var tables = tables(blocks, [order(scope, key, .allow)])
        #expect(tables.intake(request()).sends.count == 1)
        tables.now = Self.end
        let late = request("r2", purpose: "sign_up", offset: 1, at: Self.end)
        #expect(tables.intake(late).sends.isEmpty)
    }

    @Test(
        arguments: [
            ("app_attest", "pass", 0.7, true), ("play_integrity", "pass", 1, true), ("silent_push", "pass", nil, true),
            ("app_attest", "pass", 0.69, false), ("recaptcha", "pass", 1, false), ("none", "pass", 1, false),
        ] as [(String, String, Double?, Bool)]
    )
    func `a verified app passes range and region, and not ip and prefix`(
        method: String,
        verdict: String,
        score: Double?,
        passes: Bool
    ) throws {
        let shownScore = score.map { #","score":\#($0)"# } ?? ""
        let shown = #","appVerification":{"method":"\#(method)","verdict":"\#(verdict)"\#(shownScore)}"#
        for scope in BrakeScope.allCases {
            var tables = tables([block(try key(scope))])
            let isSent = !tables.intake(request(more: shown)).sends.isEmpty
            #expect(isSent == (passes && scope >= .range))
        }
    }

    @Test(arguments: BrakeScope.allCases)
    func `a resend is not refused by region, and by a narrower scope in its verification's stream`(
        scope: BrakeScope
    ) throws {
        var tables = tables([])
        let claim = try #require(tables.intake(request()).sends.first)
        _ = tables.settle(claim, .sent)
        tables.now = .test + .seconds(60)
        tables.brake.replace(
            with: BrakeBoard(blocks: [("default", block(try key(scope)), false)], overrides: [])
        )
        let changes = tables.intake(request("r2", offset: 1, at: tables.now))
        #expect(changes.sends.isEmpty == (scope != .region))
        if scope == .region { return }
        let event = try #require(changes.events.first)
        #expect(event.reason == "toll_fraud_suspected")
        #expect(event.verificationID == claim.reference.verificationID.description)
    }

    @Test func `mail is not judged`() throws {
        var tables = tables([block(try key(.ip))])
        let changes = tables.intake(.email(id: "r1", at: .test, more: Self.client))
        #expect(changes.sends.count == 1 && changes.insertedVerifications.first?.brakeKeys == nil)
    }

    @Test(arguments: [BrakeOverride.Action.allow, .launch])
    func `an order that overrules an enforced block is told with the block`(action: BrakeOverride.Action) throws {
        let orders = [order(.region, try key(.region).value, action)]
        var overruled = tables([block(try key(.range))], orders)
        let changes = overruled.intake(request())
        let turn = BrakeTurn(tenant: "default", key: try key(.range))
        let region = try #require(Region("DE"))
        #expect(changes.sends.count == 1)
        #expect(changes.brake.overruled == [.init(turn: turn, region: region, order: action)])
        // A block that only records, or none, is not overruled.
        var recording = tables([block(try key(.range))], orders) { $0.brake = BrakePolicy() }
        #expect(recording.intake(request()).brake.overruled.isEmpty)
        var free = tables([], orders)
        #expect(free.intake(request()).brake.overruled.isEmpty)
    }

    // MARK: Recording

    @Test(arguments: BrakeScope.allCases)
    func `in record mode the message is sent and the rule noted`(scope: BrakeScope) throws {
        var tables = tables([block(try key(scope))]) { $0.brake = BrakePolicy() }
        let candidate = tables.candidate(request())
        let changes = tables.intake([candidate])
        #expect(changes.sends.count == 1)
        #expect(changes.brake.recorded == [BrakeEffects.Recorded(request: candidate.key, key: try key(scope))])
        #expect(changes.brake.stopped.count == 1 && changes.brake.refused == 0)
    }

    @Test func `a tenant that approves too little only records`() throws {
        var tables = tables([block(try key(.prefix))], isAsleep: true)
        let changes = tables.intake(request())
        #expect(changes.sends.count == 1 && changes.brake.recorded.count == 1)
    }

    @Test(arguments: BrakeScope.allCases)
    func `a launch makes range and region record for its region, until its end`(scope: BrakeScope) throws {
        let blocks = [block(try key(scope), changesAt: Self.end + .seconds(60))]
        let region = try key(.region).value
        var launched = tables(blocks, [order(.region, region, .launch)])
        let changes = launched.intake(request())
        #expect(changes.sends.isEmpty == (scope < .range))
        #expect(changes.brake.recorded.isEmpty == (scope < .range))
        launched.now = Self.end
        #expect(launched.intake(request("r2", phone: "+4915123456780", offset: 1, at: Self.end)).sends.isEmpty)
        var other = tables(blocks, [order(.region, BrakeKey(region: "FR").value, .launch)])
        #expect(other.intake(request()).sends.isEmpty)
    }

    @Test func `a region's mode replaces the scope's, and a scope's the general one`() throws {
        let region = try #require(Region("DE"))
        func isSent(_ policy: BrakePolicy) throws -> (Bool, Int) {
            var tables = tables([block(try key(.prefix))]) { $0.brake = policy }
            let changes = tables.intake(request())
            return (!changes.sends.isEmpty, changes.brake.stopped.count)
        }
        #expect(try isSent(BrakePolicy(mode: .enforce, scopes: [.prefix: .off])) == (true, 0))
        #expect(try isSent(BrakePolicy(mode: .off, scopes: [.prefix: .enforce])) == (false, 1))
        #expect(try isSent(BrakePolicy(scopes: [.prefix: .enforce], regions: [region: .off])) == (true, 0))
        #expect(try isSent(BrakePolicy(mode: .off, regions: [region: .record])) == (true, 1))
    }

    @Test func `a wider scope refuses what a narrower one only records`() throws {
        var tables = tables([block(try key(.prefix)), block(try key(.region))]) { $0.brake.scopes = [.prefix: .record] }
        let changes = tables.intake(request())
        #expect(changes.events.first?.text("rule") == "brake.region")
        #expect(changes.brake.recorded.isEmpty && changes.brake.refused == 1)
    }

    @Test func `an order to block refuses in every mode, and nobody that is never refused`() throws {
        let order = order(.prefix, try key(.prefix).value, .block)
        var tables = tables([], [order]) { $0.brake = BrakePolicy(mode: .off) }
        let event = try #require(tables.intake(request()).events.first)
        #expect(event.text("rule") == "brake.prefix" && event.text("retryAfter") == Self.end.rfc3339)
        #expect(tables.intake(request("r2", isConfirmed: true, offset: 1)).sends.count == 1)
        tables.now = Self.end
        let late = request("r3", phone: "+4915123456780", offset: 2, at: Self.end)
        #expect(tables.intake(late).sends.count == 1)
    }
}
