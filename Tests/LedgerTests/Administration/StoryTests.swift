// SPDX-License-Identifier: Apache-2.0

import Administration
import Formats
import Ledger
import PostgresClient
import TestSupport
import Testing
import Verification

/// Tests what an operator sees of a request, with the operator's login.
@Suite struct StoryTests {
    @Test func `a message is followed from its claim to its outcome`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claim = try await worker.claim()
            let id = claim.reference.verificationID
            let claimed = try #require(try await database.story(of: id))
            #expect(claimed.state == "live" && claimed.status == nil && claimed.isSendOpen)
            #expect(claimed.sends.map(\.state) == ["claimed"])
            #expect(claimed.sends.allSatisfy { ($0.leaseUntil ?? claimed.readAt) > claimed.readAt })

            let records = try await worker.settle([claim], .sent)
            let sent = try #require(try await database.story(of: id))
            #expect(sent.status == "sent" && sent.unpublished == 1)
            #expect(sent.sends.map(\.state) == ["sent"])
            #expect(sent.sends.allSatisfy { $0.provider != nil && $0.leaseUntil == nil })
            try await worker.publish(records)
            let published = try #require(try await database.story(of: id))
            #expect(published.unpublished == 0)
        }
    }

    @Test func `a request id finds its verification, of its tenant alone`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claim = try await worker.claim()
            let id = claim.reference.verificationID
            let requestID = try #require(try await database.story(of: id)).requestID
            try await database.asOperator { reader in
                let answer = try #require(try await reader.answer(tenant: "default", requestID: requestID))
                #expect(answer.verificationID == id && answer.status == nil)
                for (tenant, id) in [("other", requestID), ("default", "\(requestID)x")] {
                    let none = try await reader.answer(tenant: tenant, requestID: id)
                    #expect(none == nil)
                }
            }
        }
    }

    @Test func `a recipient finds the newest verification of each purpose, of its tenant or of all`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claim = try await worker.claim()
            let fingerprints = [claim.recipient.fingerprint(key: CodeKeys.test.fingerprint.active)]
            try await database.asOperator { reader in
                for tenant in [nil, "default"] {
                    let found = try await reader.verifications(fingerprints: fingerprints, tenant: tenant)
                    #expect(found == [claim.reference.verificationID])
                }
                #expect(try await reader.verifications(fingerprints: fingerprints, tenant: "other").isEmpty)
                let nobody = [[UInt8](repeating: 7, count: 32)]
                #expect(try await reader.verifications(fingerprints: nobody, tenant: nil).isEmpty)
            }
        }
    }

    @Test func `an unknown verification has no story`() async throws {
        try await LedgerDatabase.with { database in
            var generator = SystemRandomNumberGenerator()
            let id = VerificationID(.version7(at: .now, using: &generator))
            let story = try await database.story(of: id)
            #expect(story == nil)
        }
    }
}

extension LedgerDatabase {
    fileprivate func asOperator<Result>(_ body: (StoryReader) async throws -> Result) async throws -> Result {
        try await withLogin(granted: "courier_operator", connections: 1) { pool in
            try await body(StoryReader(pool: pool))
        }
    }

    fileprivate func story(of id: VerificationID) async throws -> VerificationStory? {
        try await asOperator { reader in try await reader.story(of: id) }
    }
}
