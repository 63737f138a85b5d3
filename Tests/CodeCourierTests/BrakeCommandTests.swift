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
        let hex = String(key.value.hexDigits.prefix(8))
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
        #expect(effect(explain(plain, [range], [order(.phone, 77, .allow)])) == ": allowed")
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

    // MARK: Options

    @Test(arguments: [
        ("lift", "say which scope"), ("lift --ip 192.0.2.1 --region BR", "say which scope"),
        ("lift --key 01234567", "--key needs --scope"), ("lift --key 01234567 --scope region", "--key needs --scope"),
        ("lift --phone - --scope ip", "--phone needs --scope, one of phone, prefix, range"),
        ("lift --ip 192.0.2.1 --scope ip", "--scope is for --phone and --key"),
        ("block --phone - --scope phone --for 1h --reason x", "--scope phone is for allow"),
        ("allow --ip 192.0.2.1 --for 1h --reason ", "--reason"), ("allow --ip 192.0.2.1 --for 0h --reason x", "0h"),
        ("allow --ip 192.0.2.1 --for 9000h --reason x", "9000h"), ("launch --for 48h --reason x", "<region>"),
    ])
    func `options that name no scope or span are refused`(call: String, words: String) throws {
        let arguments = call.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        let error = #expect(throws: (any Error).self) { _ = try BrakeCommand.parseAsRoot(arguments) }
        #expect(CodeCourier.message(for: try #require(error)).contains(words))
    }

    @Test(arguments: [
        "list --json", "lift --region BR", "lift --key 01234567 --scope prefix",
        "allow --phone - --scope phone --for 30d --reason tester", "block --ip 192.0.2.1 --for 90m --reason attack",
        "launch BR --for 48h --reason launch --tenant shop", "explain --phone - --ip 192.0.2.1 --app-verified",
    ])
    func `options that name one are taken`(call: String) throws {
        _ = try BrakeCommand.parseAsRoot(call.split(separator: " ").map(String.init))
    }
}
