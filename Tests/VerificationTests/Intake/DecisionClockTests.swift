// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import Testing
import Verification

/// Checks that a worker's clock does not affect its decisions, which use the database's time.
@Suite struct DecisionClockTests {
    static let errors: [Duration] = [.seconds(-7200), .seconds(-600), .zero, .seconds(600), .seconds(7200)]

    /// Decides, at the database's time, a record that a worker with a wrong clock has read.
    private func decide(
        _ record: InboundRecord,
        error: Duration,
        _ tables: inout DecisionTables
    ) -> IntakeChanges {
        let screener = Screener(policy: tables.policy, keys: tables.keys, numbers: tables.numbers)
        return tables.intake([screener.candidate(for: record, now: tables.now + error)])
    }

    @Test(arguments: errors) func `a valid request is sent by whichever clock it is read`(error: Duration) {
        for more in ["", #","requestedAt":"2026-11-20T12:00:00Z""#, #","requestedAt":"2026-11-20T12:05:00Z""#] {
            var tables = DecisionTables()
            #expect(
                decide(.request(id: "r1", at: .test, more: more), error: error, &tables).sends.count == 1,
                "\(more)"
            )
        }
    }

    @Test(arguments: errors) func `a send's deadline follows the database's clock`(error: Duration) throws {
        var tables = DecisionTables()
        let ahead = InboundRecord.request(id: "r1", at: .test + .seconds(300))
        let claim = try #require(decide(ahead, error: error, &tables).sends.first)
        #expect(claim.deadline == .test + .seconds(300))
    }

    @Test(arguments: errors) func `what is asked from the future is refused with its field`(error: Duration) throws {
        var tables = DecisionTables()
        let more = #","requestedAt":"2026-11-20T12:05:00.000001Z""#
        let changes = decide(.request(id: "r1", at: .test, more: more), error: error, &tables)
        let event = try #require(changes.events.first)
        #expect(changes.sends.isEmpty && changes.insertedVerifications.isEmpty)
        #expect(event.status == "rejected")
        #expect(event.reason == "invalid_request")
        #expect(event.rule == "shape.requestedAt")
        #expect(event.text("field") == "requestedAt")
        #expect(event.object("recipient") == nil)
    }

    @Test(arguments: errors) func `a record from the future is refused as such a request is`(error: Duration) throws {
        for time in [Timestamp.test + .seconds(300) + .microseconds(1), .test + .seconds(86_400 * 365)] {
            var tables = DecisionTables()
            let changes = decide(.request(id: "r1", at: time), error: error, &tables)
            let event = try #require(changes.events.first)
            #expect(changes.sends.isEmpty && changes.insertedVerifications.isEmpty)
            #expect(event.status == "rejected" && event.reason == "invalid_request")
            #expect(event.rule == "shape.requestedAt" && event.text("field") == "requestedAt")

            let stated = #","requestedAt":"2026-11-20T12:00:00Z""#
            var others = DecisionTables()
            let sent = decide(.request(id: "r2", at: time, more: stated), error: error, &others)
            #expect(sent.sends.count == 1, "what the gateway says counts")
        }
    }

    @Test func `the future comes after the tenant and before number and request id`() {
        let future = #","requestedAt":"2027-01-01T00:00:00Z""#
        var tables = DecisionTables(numbers: FixedNumbers(isValid: false))
        let stranger = tables.intake(.request(id: "r1", at: .test, more: #","tenant":"nobody""# + future))
        #expect(stranger.events.first?.reason == "unknown_tenant")
        let invalid = tables.intake(.request(id: "r2", offset: 1, at: .test, more: future))
        #expect(invalid.events.first?.reason == "invalid_request")

        var others = DecisionTables()
        others.intake(.request(id: "r1", at: .test))
        let again = others.intake(.request(id: "r1", phoneNumber: "+4915123456780", offset: 1, at: .test, more: future))
        #expect(again.events.first?.reason == "invalid_request")
    }

    @Test(arguments: errors, [Duration.microseconds(-1), .zero])
    func `a test number ends when the database's clock says so`(error: Duration, late: Duration) throws {
        let number = try #require(PhoneNumber("+4915123456789"))
        var tables = DecisionTables(numbers: FixedNumbers(region: "RU")) {
            $0.testNumbers = [TestNumber(number: number, code: "654321", until: .test + .seconds(60))]
            $0.limits.perRecipient = [RateLimit(count: 1, per: .seconds(60))]
        }
        tables.now = .test + .seconds(60) + late
        let changes = decide(.request(id: "r1", at: tables.now), error: error, &tables)
        if late == .zero {
            #expect(changes.events.first?.reason == "region_not_allowed")
        } else {
            #expect(changes.sends.first?.code.digits == "654321")
            #expect(changes.windows.isEmpty)
        }
    }

    @Test func `a test number that has ended is an ordinary one, with its limits`() throws {
        let number = try #require(PhoneNumber("+4915123456789"))
        var tables = DecisionTables {
            $0.testNumbers = [TestNumber(number: number, code: "654321", until: .test)]
            $0.limits.perRecipient = [RateLimit(count: 1, per: .seconds(60))]
        }
        let changes = decide(.request(id: "r1", at: .test), error: .seconds(-600), &tables)
        #expect(changes.sends.first?.isFictional == false)
        #expect(changes.windows.count == 1)
    }
}
