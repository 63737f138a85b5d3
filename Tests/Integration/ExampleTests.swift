// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import Foundation
import KafkaClient
import TestSupport
import TestTools
import Testing

extension CommandLineSuite {
    /// Runs the programs of `examples` as a reader would.
    @Suite struct Examples {
        @Test func `the gateway in Python asks, and the verifier in Python approves the code once`() async throws {
            try await TestFleet.with { fleet in
                _ = try await fleet.startWorker()
                let number = Numbers.one()
                fleet.watch([number])
                let asking = [
                    "--brokers", fleet.cluster.configuration.bootstrapServers, "--topic", fleet.topics.requests,
                    "--events", fleet.topics.deliveries, "--phone", number, "--request-id", "from-python",
                    "--subject", "ada",
                ]
                let gateway = try await run("gateway.py", asking, fleet)
                #expect(gateway.output.contains(#""status": "sent""#), "\(gateway.output)\(gateway.errors)")
                #expect(gateway.output.contains(#""requestId": "from-python""#))
                let event = try await fleet.event(of: TestRequest(id: "from-python", phoneNumber: number))
                let code = try #require(fleet.messages[number]?.first?.code)
                let verification = try #require(event.body.verificationId)

                let ring = try fleet.folder.write(TestKeys.hash + "\n", to: "hash-keys")
                let options = ["--database", fleet.logins.verifierURL, "--hash-keys", ring, "check"]
                let typo = try await run("verifier.py", options + [verification, "12345O"], fleet, expecting: 1)
                #expect(typo.output.contains(#"{"status": "not_a_code"}"#), "\(typo.errors)")
                let miss = code == "000000" ? "000001" : "000000"
                let wrong = try await run("verifier.py", options + [verification, miss], fleet, expecting: 1)
                #expect(wrong.output.contains(#"{"status": "incorrect", "checksLeft": 4}"#), "\(wrong.errors)")
                let other = options + [verification, miss, "--subject", "eve"]
                let refused = try await run("verifier.py", other, fleet, expecting: 1)
                #expect(refused.output.contains(#"{"status": "other_subject"}"#), "\(refused.errors)")
                let own = options + [verification, "G-\(code.prefix(3))\u{a0}\(code.suffix(3)).", "--subject", "ada"]
                let right = try await run("verifier.py", own, fleet)
                let approval = #"{"status": "approved", "checksLeft": 2, "subject": "ada"}"#
                #expect(right.output.contains(approval), "\(right.errors)")
                let again = try await run("verifier.py", options + [verification, code], fleet, expecting: 1)
                #expect(again.output.contains(#"{"status": "already_approved","#), "\(again.errors)")
                let nobody = "0193a5b0-1c40-7b11-9d22-33e44f556a66"
                let unknown = try await run("verifier.py", options + [nobody, code], fleet, expecting: 1)
                #expect(unknown.output.contains(#"{"status": "not_found"}"#), "\(unknown.errors)")
            }
        }

        private func run(
            _ script: String,
            _ arguments: [String],
            _ fleet: TestFleet,
            expecting code: Int32 = 0
        ) async throws -> Program {
            let root = Repository.root
            let program = try Program(
                [root.appending(path: "examples/\(script)").path] + arguments,
                executable: root.appending(path: ".local/python/bin/python").path,
                folder: fleet.folder
            )
            #expect(try await program.exit() == .code(code), "\(script): \(program.errors)")
            return program
        }
    }
}
