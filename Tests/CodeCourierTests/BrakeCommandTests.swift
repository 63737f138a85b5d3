// SPDX-License-Identifier: Apache-2.0

import Administration
import ArgumentParser
import Formats
import TestSupport
import Testing
import Verification

@testable import CodeCourier

@Suite struct BrakeCommandTests {
    private static let hash = CodeKeys.test.brake

    private func subject(isConfirmed: Bool = false, isTrusted: Bool = false) throws -> BrakeSubject {
        let number = try #require(PhoneNumber("+4915123456789"))
        let address = try #require(IPAddress("192.0.2.1"))
        return BrakeSubject(
            tenant: "default",
            keys: BrakeKeys(of: number, from: address, isConfirmed: isConfirmed, by: Self.hash),
            region: try #require(Region("DE")),
            number: number,
            address: address,
            recipient: 77,
            isTrusted: isTrusted
        )
    }

    private func block(
        _ key: BrakeKey,
        _ state: BrakeBlock.State = .blocked,
        tenant: String = "default",
        isAsleep: Bool = false
    ) -> BrakeDesk.Block {
        let block = BrakeBlock(
            key,
            region: "DE",
            state: state,
            beganAt: .test,
            changesAt: .test + .seconds(300),
            length: .seconds(300),
            trips: 2,
            shortfall: Shortfall(expected: 15.25, observed: 1),
            refusedAt: .test
        )
        return BrakeDesk.Block(tenant: tenant, block: block, isAsleep: isAsleep, refused: 1234)
    }

    private func order(
        _ scope: BrakeOverride.Scope,
        _ key: Int64,
        _ action: BrakeOverride.Action
    ) -> BrakeDesk.Order {
        BrakeDesk.Order(
            order: BrakeOverride(
                tenant: "default",
                scope: scope,
                key: key,
                action: action,
                until: .test + .seconds(600),
                reason: "our\u{1b}testers"
            ),
            createdAt: .test,
            createdBy: "ops"
        )
    }

    private func explain(
        _ subject: BrakeSubject,
        _ blocks: [BrakeDesk.Block],
        _ orders: [BrakeDesk.Order] = [],
        _ policy: BrakePolicy = BrakePolicy(mode: .enforce)
    ) -> BrakeExplanation {
        let state = BrakeDesk.State(now: .test, blocks: blocks, orders: orders)
        return BrakeExplanation(of: subject, policy: policy, version: "7", state: state)
    }

    // MARK: explain

    @Test func `a blocked prefix is explained with its evidence, and without the number`() throws {
        let subject = try subject()
        let key = try #require(subject.key(of: .prefix))
        let explanation = explain(subject, [block(key), block(key, tenant: "other")])
        #expect(explanation.isRefused)
        let text = explanation.text
        #expect(text.first == "+4********6789, DE, not confirmed; policy 7")
        let hex = String(hexadecimal(key.value).prefix(8))
        let end = (Timestamp.test + .seconds(300)).rfc3339
        let line = try #require(text.first { $0.hasPrefix("  prefix") })
        let cells = line.split(separator: " ").map(String.init)
        #expect(cells == ["prefix", hex, "blocked", end, "15.3", "1", "11.5", "9.2", "REFUSES"])
        #expect(text.contains { $0.hasPrefix("  region  DE") && $0.hasSuffix("passes") })
        #expect(text.last == "It would be refused until \(end), by the rule brake.prefix.")
        let json = String(decoding: explanation.json, as: UTF8.self)
        #expect(json.contains(#""wouldBeRefused":true,"rule":"brake.prefix","retryAfter":"\#(end)""#))
        #expect(json.contains(#"{"scope":"prefix","key":"\#(hex)","effect":"refused","need":9.2,"state":"blocked""#))
        for shown in text + [json] { #expect(!shown.contains("1512345") && !shown.contains("192.0.2")) }
    }

    @Test func `each reason why a block does not refuse is told`() throws {
        let plain = try subject()
        let range = block(try #require(plain.key(of: .range)))
        func effect(_ explanation: BrakeExplanation) -> String? {
            #expect(!explanation.isRefused)
            return explanation.text.first { $0.hasPrefix("  range") }?.split(separator: "passes").last.map(String.init)
        }
        let asleep = block(range.block.key, isAsleep: true)
        let launch = order(.region, BrakeKey(region: "DE").value, .launch)
        #expect(effect(explain(try subject(isConfirmed: true), [range])) == ": confirmed")
        #expect(effect(explain(try subject(isTrusted: true), [range])) == ": its app is verified")
        #expect(effect(explain(plain, [range], [], BrakePolicy())) == ", recorded: the mode is record")
        #expect(effect(explain(plain, [range], [], BrakePolicy(mode: .off))) == ": off in the policy")
        #expect(effect(explain(plain, [asleep])) == ", recorded: too few approvals")
        #expect(effect(explain(plain, [range], [launch])) == ", recorded: launch")
        #expect(effect(explain(plain, [range], [order(.phone, 77, .allow)])) == ": allowed by an order")
        let allowed = BrakePolicy(mode: .enforce, allowedPrefixes: ["+49151"])
        #expect(effect(explain(plain, [range], [], allowed)) == ": allowed by the policy")
        #expect(effect(explain(plain, [block(range.block.key, .halfOpen)])) == " if it is a probe's turn")
        #expect(explain(plain, []).text.last == "It would be sent.")
        #expect(explain(plain, [range], [], BrakePolicy()).text.last?.hasSuffix("for the rule brake.range.") == true)
        #expect(explain(plain, [], [order(.region, BrakeKey(region: "DE").value, .block)]).isRefused)
    }

    // MARK: list

    @Test func `a list has blocks and orders, with keys and without control characters`() throws {
        let blocks = [
            block(BrakeKey(.ip, 0x0123_4567_89ab_cdef), isAsleep: true), block(BrakeKey(region: "DE"), .halfOpen),
        ]
        let state = BrakeDesk.State(now: .test, blocks: blocks, orders: [order(.prefix, -1, .allow)])
        let output = BrakeListOutput(state: state)
        let lines = output.lines
        #expect(lines.contains { $0.contains("ip      01234567") && $0.hasSuffix("only records: too few approvals") })
        #expect(lines.contains { $0.contains("region  DE        DE      half_open") && $0.hasSuffix("1,234") })
        let until = (Timestamp.test + .seconds(600)).rfc3339
        #expect(lines.last == "  allow prefix ffffffff of default until \(until), by ops: our testers")
        let json = String(decoding: output.json, as: UTF8.self)
        #expect(json.contains(#""scope":"ip","key":"01234567","region":"DE","state":"blocked""#))
        #expect(json.contains(#""action":"allow","until":"\#(until)""#))
        let empty = BrakeListOutput(state: BrakeDesk.State(now: .test, blocks: [], orders: []))
        #expect(empty.lines == ["no blocks", "", "no orders"])
    }

    @Test func `a launch shows how many messages it has used of its maximum`() {
        let until = (Timestamp.test + .seconds(600)).rfc3339
        func order(_ used: Int64) -> BrakeDesk.Order {
            let order = BrakeOverride(
                tenant: "default",
                scope: .region,
                key: BrakeKey(region: "BR").value,
                action: .launch,
                until: .test + .seconds(600),
                maximum: 20_000,
                used: used,
                reason: "TV"
            )
            return BrakeDesk.Order(order: order, createdAt: .test, createdBy: "ops")
        }
        for (used, text) in [(Int64(1234), "1,234 of 20,000 messages"), (20_012, "over: 20,012 of 20,000 messages")] {
            let output = BrakeListOutput(state: BrakeDesk.State(now: .test, blocks: [], orders: [order(used)]))
            #expect(output.lines.last == "  launch region BR of default until \(until), \(text), by ops: TV")
            #expect(String(decoding: output.json, as: UTF8.self).contains(#""maximum":20000,"used":\#(used),"#))
        }
    }

    @Test func `an order to block shows how many requests it refused`() {
        let placed = order(.prefix, -1, .block)
        let counted = BrakeDesk.Order(order: placed.order, createdAt: .test, createdBy: "ops", refused: 1234)
        let output = BrakeListOutput(state: BrakeDesk.State(now: .test, blocks: [], orders: [counted]))
        #expect(output.lines.last?.hasSuffix(", 1,234 stopped, by ops: our testers") == true)
        #expect(String(decoding: output.json, as: UTF8.self).contains(#""stopped":1234,"reason""#))
    }

    @Test func `without a reader a half-open scope is explained as passing`() throws {
        let subject = try subject()
        let open = block(try #require(subject.key(of: .prefix)), .halfOpen)
        let state = BrakeDesk.State(now: .test, judgedTo: .test - .seconds(500), blocks: [open], orders: [])
        let policy = BrakePolicy(mode: .enforce)
        let explanation = BrakeExplanation(of: subject, policy: policy, version: "7", state: state)
        #expect(explanation.text.last == "It would be sent.")
    }

    @Test func `an unknown tenant is named, with the nearest one or those that are known`() {
        let known = ["default", "shop"]
        #expect(
            TenantArgument.fault("defualt", among: known, of: "the policy")
                == "--tenant: the policy has no tenant defualt; did you mean default?"
        )
        #expect(
            TenantArgument.fault("x", among: known, of: "the database")
                == "--tenant: the database has no tenant x; known: default, shop"
        )
    }

    // MARK: replay

    private func replayed() -> BrakeReplayOutput {
        var random = SystemRandomNumberGenerator()
        let policy = Policy.test { $0.brake = BrakePolicy(mode: .enforce, minimumApprovals: 0) }
        var replay = BrakeReplay(policy, hours: ConversionCounts(), from: .test)
        defer { replay.removeAll() }
        let samples = (0..<1200).map { second in
            ConversionSample(
                id: .version7(at: .test + .seconds(second), using: &random),
                region: "DE",
                client: nil,
                prefix: 0x0123_4567_89ab_cdef,
                range: nil,
                isConfirmed: false,
                outcome: .open
            )
        }
        replay.play(["default": samples], to: .test + .seconds(1200))
        return BrakeReplayOutput(
            report: replay.report,
            start: .test,
            end: .test + .seconds(1200),
            version: "7",
            currency: "EUR"
        )
    }

    @Test func `a replay shows which scope would have been blocked, when, and whom it would have refused`() throws {
        let output = replayed()
        let tenant = try #require(output.report.tenants["default"])
        let scope = try #require(tenant.scopes.values.first)
        let lines = output.lines
        #expect(lines.first?.hasPrefix("1,200 verifications from \(Timestamp.test.rfc3339) to ") == true)
        #expect(lines.contains("tenant default"))
        let refused = try #require(lines.first { $0.hasPrefix("  refused") }).split(separator: " ").map(String.init)
        let count = tenant.refused.verifications.grouped
        #expect(refused == ["refused", count, count, "0", "0.00"])
        let row = try #require(lines.first { $0.hasPrefix("  prefix") }).split(separator: " ").map(String.init)
        let from = try #require(scope.blocks.first).from.rfc3339
        let until = try #require(scope.blocks.last).until.rfc3339
        #expect(row == ["prefix", "01234567", "DE", from, until, String(scope.blocks.count), count, "0", "0"])
        #expect(lines.suffix(4) == BrakeReplayOutput.assumptions[...])
        let json = String(decoding: output.json, as: UTF8.self)
        #expect(json.contains(#""policyVersion":"7","interrupted":false,"#))
        #expect(json.contains(#""scope":"prefix","key":"01234567","region":"DE","refused":{"verifications":"#))
        #expect(json.contains(#""blocks":[{"from":"\#(from)","#))
    }

    @Test func `a replay without a block says so, and one that was interrupted, too`() {
        var report = BrakeReplayReport()
        report.isInterrupted = true
        let output = BrakeReplayOutput(report: report, start: .test, end: .test, version: "7", currency: nil)
        #expect(output.lines.first?.hasSuffix("policy 7, INTERRUPTED") == true)
        let json = String(decoding: output.json, as: UTF8.self)
        #expect(json.contains(#""interrupted":true,"tenants":[]"#))
    }

    // MARK: Options

    @Test(arguments: [
        ("lift", "say which scope"), ("lift --ip 192.0.2.1 --region BR", "say which scope"),
        ("lift --key 01234567", "--key needs --scope"), ("lift --key 01234567 --scope region", "--key needs --scope"),
        ("lift --phone - --scope ip", "--phone needs --scope, one of phone, prefix, range"),
        ("lift --ip 192.0.2.1 --scope ip", "--scope is for --phone and --key"),
        ("block --phone - --scope phone --for 1h --reason x", "--scope phone is for allow"),
        ("allow --ip 192.0.2.1 --for 1h --reason ", "--reason"), ("allow --ip 192.0.2.1 --for 0h --reason x", "0h"),
        ("allow --ip 192.0.2.1 --for 9000h --reason x", "9000h"), ("replay --since yesterday", "--since"),
        ("launch --for 48h --reason x", "<region>"), ("launch BR --for 48h --maximum 0 --reason x", "--maximum"),
    ])
    func `options that name no scope or span are refused`(call: String, words: String) throws {
        let arguments = call.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        let error = #expect(throws: (any Error).self) { _ = try BrakeCommand.parseAsRoot(arguments) }
        #expect(CodeCourier.message(for: try #require(error)).contains(words))
    }

    @Test(arguments: [
        "list --json", "lift --region BR", "lift --key 01234567 --scope prefix",
        "allow --phone - --scope phone --for 30d --reason tester", "block --ip 192.0.2.1 --for 90m --reason attack",
        "launch BR --for 48h --reason launch --tenant shop --maximum 20000",
        "explain --phone - --ip 192.0.2.1 --app-verified",
        "replay", "replay --policy next.yaml --since 2026-11-24 --until 12h --tenant shop --enforce --json",
    ])
    func `options that name one are taken`(call: String) throws {
        _ = try BrakeCommand.parseAsRoot(call.split(separator: " ").map(String.init))
    }
}
