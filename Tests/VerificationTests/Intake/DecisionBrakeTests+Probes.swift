// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import Testing

@testable import Verification

/// Repeats, probes of half-open scopes, and launches.
extension DecisionBrakeTests {
    @Test func `a launch that has used its messages lets nobody pass`() throws {
        let key = try key(.range)
        for (used, sends) in [(Int64(99), 1), (100, 0)] {
            let launch = BrakeOverride(
                tenant: "default",
                scope: .region,
                key: try self.key(.region).value,
                action: .launch,
                until: Self.end,
                maximum: 100,
                used: used,
                reason: "test"
            )
            var tables = tables([block(key)], [launch])
            #expect(tables.intake(request()).sends.count == sends)
        }
    }

    @Test func `a repeated request has the first answer, though the block has ended`() throws {
        var tables = tables([block(try key(.prefix))])
        tables.intake(request())
        tables.brake.replace(with: .empty)
        #expect(tables.intake(request()).outbox.isEmpty)
        let again = tables.intake(request(offset: 1))
        let event = try #require(again.events.first)
        #expect(again.sends.isEmpty && event.status == "rejected" && event.reason == "duplicate_request")
        #expect(event.text("originalReason") == "toll_fraud_suspected" && event.text("rule") == "brake.prefix")
    }

    @Test func `a half-open scope lets one request through every five seconds`() throws {
        var tables = tables([block(try key(.prefix), .halfOpen, changesAt: .test)])
        func phone(_ index: Int) -> String { "+491512345678\(index)" }
        func send(_ index: Int, after seconds: Int) -> IntakeChanges {
            tables.now = .test + .seconds(seconds)
            return tables.intake(request("r\(index)", phone: phone(index), offset: Int64(index), at: tables.now))
        }
        let both = tables.intake(
            tables.candidates([request("r0", phone: phone(0)), request("r1", phone: phone(1), offset: 1)])
        )
        #expect(both.sends.count == 1 && both.brake.probes.count == 1)
        let refusal = try #require(both.events.first)
        #expect(refusal.reason == "toll_fraud_suspected")
        #expect(refusal.text("retryAfter") == (Timestamp.test + .seconds(90)).rfc3339)
        #expect(send(2, after: 4).sends.isEmpty)
        #expect(send(3, after: 5).sends.count == 1)
        #expect(send(4, after: 6).sends.isEmpty)
    }

    @Test func `a further message of a verification from before the block takes no probe`() throws {
        var tables = tables([])
        _ = tables.settle(try #require(tables.intake(request()).sends.first), .sent)
        let blocks = [("default", block(try key(.prefix), .halfOpen, changesAt: .test), false)]
        tables.brake.replace(with: BrakeBoard(blocks: blocks, overrides: []))
        tables.now = .test + .seconds(120)
        let resend = tables.intake(request("r2", offset: 1, at: tables.now))
        #expect(resend.sends.isEmpty && resend.brake.probes.isEmpty)
        #expect(resend.events.first?.text("rule") == "brake.prefix")
        let new = tables.intake(request("r3", phone: "+4915123456780", offset: 2, at: tables.now))
        #expect(new.sends.count == 1 && new.brake.probes.count == 1)
    }

    @Test func `a block whose end has come is half open, though nobody has moved it on`() throws {
        var tables = tables([block(try key(.range), changesAt: .test)])
        #expect(tables.intake(request()).brake.probes.count == 1)
        #expect(tables.intake(request("r2", phone: "+4915123456780", offset: 1)).sends.isEmpty)
    }

    @Test func `without a reader a half-open scope refuses nobody, and a block until its end`() throws {
        for (state, lag, sends) in [
            (BrakeBlock.State.halfOpen, Duration.seconds(60), 1), (.halfOpen, .seconds(180), 2),
            (.blocked, .seconds(180), 0),
        ] {
            let end = state == .blocked ? Self.end : .test - .seconds(72_000)
            var tables = tables([block(try key(.prefix), state, changesAt: end)])
            tables.brake.setReaderLag(lag)
            let records = [request(), request("r2", phone: "+4915123456780", offset: 1)]
            let changes = tables.intake(tables.candidates(records))
            #expect(changes.sends.count == sends)
            #expect(changes.brake.probes.count == (sends == 1 ? 1 : 0))
        }
    }

    @Test func `a probe of a narrow scope that a wider one refuses is not taken`() throws {
        let blocks = [block(try key(.prefix), .halfOpen, changesAt: .test), block(try key(.region))]
        var tables = tables(blocks)
        let changes = tables.intake(request())
        #expect(changes.events.first?.text("rule") == "brake.region" && changes.brake.probes.isEmpty)
    }

    @Test func `a tenant lets ten probes a minute through, and two while nearly all of them fail`() throws {
        func probes(failed: Int, opened: Int) throws -> Int {
            var blocks = [block(try key(.region), .halfOpen, changesAt: .test)]
            blocks += (0..<20).map { block(clientKey($0), .halfOpen, changesAt: .test) }
            blocks += (0..<failed).map { block(BrakeKey(.ip, Int64($0)), trips: 2) }
            blocks += (0..<opened).map { block(BrakeKey(.range, Int64($0)), .ended, changesAt: .test) }
            var tables = tables(blocks) { $0.brake.scopes = [.region: .off] }
            let records = (0..<20).map { index in
                InboundRecord.request(
                    id: "r\(index)",
                    phoneNumber: "+49151234567\(10 + index)",
                    offset: Int64(index),
                    at: .test,
                    more: #","client":{"ip":"198.51.100.\#(index)"}"#
                )
            }
            return tables.intake(tables.candidates(records)).sends.count
        }
        #expect(try probes(failed: 4, opened: 0) == 10)
        #expect(try probes(failed: 5, opened: 0) == 2)
        #expect(try probes(failed: 5, opened: 1) == 10)
    }

    private func clientKey(_ index: Int) -> BrakeKey {
        guard let address = IPAddress("198.51.100.\(index)") else { preconditionFailure("an address") }
        return BrakeKey(.ip, CodeKeys.test.brake.client(address))
    }
}
