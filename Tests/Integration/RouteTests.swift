// SPDX-License-Identifier: Apache-2.0

import Administration
import FleetSupport
import TestSupport
import TestTools
import Testing

extension Endurance {
    @Suite struct AdaptiveRoutes {
        private static let policy = """
            version: "test.1"
            tenants:
              default:
                appName: Acme
                regions: { allowlistOnly: { allowedRegions: [DE] } }
                limits: { perTenant: [{ count: 100000, per: 1m }] }
                routes: { default: { adaptive: [main, backup] } }
            """

        /// Two hours ago nine of ten people approved, most of them at once.
        private static let history = """
            INSERT INTO courier.conversion (
                hour, tenant, region, provider, confirmed, verifications, approved, sends, within_15, within_30,
                within_60, within_120, within_240, within_600
            )
            VALUES (
                date_trunc('hour', clock_timestamp()) - interval '2 hours', 'default', 'DE', 'main', false, 1000, 900,
                1000, 700, 800, 850, 880, 890, 900
            )
            """

        private struct SilentLine: Decodable {
            let region: String
            let provider: String
        }

        /// Sends messages and returns the number that went by the backup.
        private static func byBackup(_ count: Int, _ fleet: TestFleet) async throws -> Int {
            let requests = try await fleet.sendRequests(count)
            return try await fleet.events(of: requests.map(\.id)).count { $0.body.send?.provider == "backup" }
        }

        @Test func `a provider that delivers nothing loses its share, though the reader of conversions is killed`()
            async throws
        {
            try await TestFleet.with(partitions: 4, policy: Self.policy) { fleet in
                try await fleet.database.script(Self.history)
                try fleet.addProvider("backup")
                let reader = try await fleet.startWorker()
                try await reader.waitForLog("brake.reader")
                let other = try await fleet.startWorker()
                let requests = try await fleet.sendRequests(200)
                let events = try await fleet.events(of: requests.map(\.id))
                let delivered = events.filter { $0.body.send?.provider == "backup" }
                #expect((50...150).contains(delivered.count), "without evidence both have the same share")
                // People get the messages of the backup, and none of the other one.
                let numbers = Dictionary(uniqueKeysWithValues: requests.map { ($0.id, $0.phoneNumber) })
                for event in delivered {
                    let number = try #require(numbers[event.body.requestId])
                    let code = try #require(fleet.messages[number]?.last?.code)
                    #expect(try await fleet.check(code, event) == .approved)
                }
                try await reader.crash()
                try await other.waitForLog("brake.reader")
                try await other.waitForLog("route.silent")
                let line = try #require(other.lines(of: "route.silent", as: SilentLine.self).first)
                #expect(line.region == "DE" && line.provider == "main")
                try await eventually("the backup carries the messages") {
                    try await Self.byBackup(20, fleet) == 20
                }
                #expect(try await Self.byBackup(100, fleet) >= 95)

                let (explained, exit) = try await fleet.command(
                    ["routes", "explain", "--config", "courier.yaml", "--region", "DE"],
                    environment: ["POSTGRES_URL": fleet.logins.operatorURL]
                )
                #expect(exit == .code(0), "\(explained.errors)")
                let main = explained.output.split(separator: "\n").first { $0.contains(" main ") }
                #expect(main?.contains("0.5 %") == true && main?.contains("silent until") == true)
            }
        }
    }
}
