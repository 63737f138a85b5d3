// SPDX-License-Identifier: Apache-2.0

import Administration
import FleetSupport
import Foundation
import PostgresClient
import TestSupport
import TestTools
import Testing
import Verification

extension Scenarios {
    @Suite struct Rotation {
        /// A ring of a new key with the id 2.
        private static func ring(_ byte: UInt8) -> String {
            "2:" + Data(repeating: byte, count: 32).base64EncodedString()
        }

        @Test func `keys change under load: no request fails, and codes of before and after are right`()
            async throws
        {
            try await TestFleet.with { fleet in
                let old = ["code": TestKeys.code, "hash": TestKeys.hash, "seal": TestKeys.seal]
                let new = ["code": Self.ring(11), "hash": Self.ring(12), "seal": Self.ring(14)]
                for (name, ring) in old { try fleet.folder.write(ring, to: name) }
                let environment = [
                    "KEYS_CODE_FILE": fleet.folder["code"], "KEYS_HASH_FILE": fleet.folder["hash"],
                    "KEYS_SEAL_FILE": fleet.folder["seal"],
                ]
                let workers = [try await fleet.startWorker(environment), try await fleet.startWorker(environment)]

                // 1. Every worker must have the new keys before any worker uses them.
                var requests = try await send(to: fleet)
                for (name, ring) in old { try fleet.folder.write("\(ring),\(new[name] ?? "")", to: name) }
                requests += try await send(to: fleet, until: workers, know: "1,2")
                // 2. The new keys become the first ones. Each file is renamed separately, so workers may read a mix of
                // both.
                for (name, ring) in old { try fleet.folder.write("\(new[name] ?? ""),\(ring)", to: name) }
                requests += try await send(to: fleet, until: workers, know: "2,1")
                requests += try await send(to: fleet)

                let events = try await fleet.events(of: requests.map(\.id))
                #expect(events.count == requests.count)
                #expect(events.allSatisfy { $0.answer == Answer("sent") })
                let keys = try await fleet.database.texts(
                    "SELECT code_key || ',' || hash_key || ',' || seal_key FROM courier.verification ORDER BY id"
                )
                #expect(keys.count == requests.count)
                #expect(keys.first == "1,1,1")
                #expect(keys.last == "2,2,2")
                try await expectRight(events, requests, fleet)
            }
        }

        @Test func `a secret that changes again and again leaves no descriptor behind`() async throws {
            try await TestFleet.with { fleet in
                try fleet.folder.write("test-token", to: "token")
                try fleet.configure("authToken: test-token", "authTokenFile: \(fleet.folder["token"])")
                let worker = try await fleet.startWorker()
                var counts: [Int] = []
                for number in 1...20 {
                    let request = TestRequest(phoneNumber: Numbers.take(1)[0])
                    try await fleet.send([request])
                    #expect(try await fleet.events(of: [request.id]).map(\.answer) == [Answer("sent")])
                    counts.append(try worker.program.descriptors)
                    try fleet.folder.write("canary-token-\(number)", to: "token")
                    try await worker.waitForLog("secrets.reloaded", times: number)
                }
                try await eventually("there are as many as after the first calls: \(counts)") {
                    try worker.program.descriptors <= counts[0...4].max() ?? 0
                }
            }
        }

        private func send(to fleet: TestFleet) async throws -> [TestRequest] {
            let requests = Numbers.take(50).map { TestRequest(phoneNumber: $0) }
            try await fleet.send(requests)
            return requests
        }

        /// Sends requests until each worker has these keys in each ring and uses the first for new values.
        private func send(
            to fleet: TestFleet,
            until workers: [Worker],
            know ids: String
        ) async throws -> [TestRequest] {
            let wanted = ["code", "hash", "seal"].map { "\"\($0)_keys\":\"\(ids)\"" }
            var requests: [TestRequest] = []
            try await eventually("the workers know the keys \(ids)", within: .seconds(60)) {
                requests += try await send(to: fleet)
                return workers.allSatisfy { worker in
                    worker.program.lines.contains { line in wanted.allSatisfy { line.contains($0) } }
                }
            }
            return requests
        }

        private func expectRight(_ events: [Event], _ requests: [TestRequest], _ fleet: TestFleet) async throws {
            let bytes: [(id: KeyID, bytes: [UInt8])] = [
                (KeyID(2), [UInt8](repeating: 12, count: 32)), (KeyID(1), [UInt8](repeating: 2, count: 32)),
            ]
            let pool = PostgresPool(PostgresConfiguration(url: fleet.logins.verifierURL), size: 1)
            let verifier = Verifier(pool: pool, hashKeys: try #require(KeyRing(bytes)))
            let numbers = Dictionary(requests.map { ($0.id, $0.phoneNumber) }) { first, _ in first }
            let messages = fleet.messages
            var answers: [Verifier.Answer.Status: Int] = [:]
            for event in events {
                let number = try #require(numbers[event.body.requestId])
                let code = try #require(messages[number]?.first?.code)
                let verification = try #require(event.verification)
                let guess = Verifier.Guess(verification, tenant: "default", purpose: .signIn, code: code)
                let answer = try await verifier.check(guess)
                answers[answer.status, default: 0] += 1
            }
            await pool.close()
            #expect(answers == [.approved: events.count])
        }
    }
}
