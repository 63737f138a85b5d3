// SPDX-License-Identifier: Apache-2.0

import Ledger
import Synchronization
import TestSupport
import Testing
import Verification

@Suite struct ShardedLedgerTests {
    @Test func `people are spread over the shards, and each row is where its ids say`() async throws {
        try await LedgerDatabase.withShards(3) { databases in
            let worker = LedgerWorker(databases.ledger())
            let claims = try await worker.claims(300)
            _ = try await worker.settle(claims, .sent)
            for (number, database) in databases.enumerated() {
                let here = claims.filter { Int($0.id.uuid.shard) == number }
                #expect((60...140).contains(here.count))
                #expect(here.allSatisfy { Int($0.reference.verificationID.uuid.shard) == number })
                let sends = try await database.texts("SELECT id::text FROM courier.send")
                #expect(Set(sends) == Set(here.map(\.id.description)))
                let verifications = try await database.texts("SELECT id::text FROM courier.verification")
                #expect(Set(verifications) == Set(here.map(\.reference.verificationID.description)))
            }
        }
    }

    @Test func `a shard that is away holds up what is its own, and nothing is lost or sent twice`() async throws {
        try await LedgerDatabase.withShards(2) { databases in
            let changes = Mutex<[String]>([])
            let ledger = databases.ledger { change in
                changes.withLock { changes in
                    switch change {
                    case .failing(let failure): changes.append("failing \(failure.shard)")
                    case .recovered(let shard): changes.append("recovered \(shard)")
                    }
                }
            }
            let worker = LedgerWorker(ledger)
            let now = try await worker.now()
            let records = [InboundRecord].people(30, at: now) + (0..<10).map { .raw("{", offset: 100 + $0, at: now) }
            let (claims, letters) = try await databases[1].withConnectionsRefused(databases[0]) {
                for _ in 0..<2 {
                    await #expect(throws: ShardFailure.self) { try await worker.intake(records) }
                }
                #expect(changes.withLock(\.self) == ["failing 1"])
                #expect(!ledger.isAnswering)
                let claims = try await ledger.sweepSends(of: 0, capacity: 100).value
                await #expect(throws: ShardFailure.self) { try await ledger.sweepSends(of: 1, capacity: 100) }
                let letters = try await ledger.sweepOutbox(of: 0)
                await #expect(throws: ShardFailure.self) { try await ledger.sweepOutbox(of: 1) }
                #expect(!claims.isEmpty && !letters.isEmpty)
                #expect((claims.map(\.id.uuid.shard) + letters.map(\.shard)).allSatisfy { $0 == 0 })
                #expect(try await worker.settle(claims, .sent).outbox.count == claims.count)
                try await ledger.published(letters)
                try await ledger.maintain()
                return (claims, letters)
            }
            let rest = try await worker.intake(records)
            #expect(changes.withLock(\.self) == ["failing 1", "recovered 1"])
            #expect(ledger.isAnswering)
            #expect((rest.value.map(\.id.uuid.shard) + rest.outbox.map(\.shard)).allSatisfy { $0 == 1 })
            #expect(Set((claims + rest.value).map(\.recipient)).count == 30)
            #expect(claims.count + rest.value.count == 30)
            #expect(Set((letters + rest.outbox).map(\.stream)).count == 10)
        }
    }

    @Test func `each shard is swept by itself, for no more than there is room`() async throws {
        try await LedgerDatabase.withShards(3) { databases in
            let worker = LedgerWorker(databases.ledger())
            try await worker.ledger.release(try await worker.claims(30))
            var claimed = Set<SendID>()
            for database in 0..<3 {
                while true {
                    let claims = try await worker.ledger.sweepSends(of: database, capacity: 2).value
                    if claims.isEmpty { break }
                    #expect(claims.count <= 2)
                    #expect(claims.allSatisfy { $0.id.uuid.shard == UInt8(database) })
                    claimed.formUnion(claims.map(\.id))
                }
            }
            #expect(claimed.count == 30)
        }
    }

    @Test func `events of one shard are not lost when another fails while outcomes are recorded`() async throws {
        try await LedgerDatabase.withShards(2) { databases in
            let worker = LedgerWorker(databases.ledger())
            let ledger = worker.ledger
            let claims = try await worker.claims(30)
            _ = try await ledger.markDispatching(claims)
            let results = claims.map { SendResult($0, .sent) }
            try await databases[1].withConnectionsRefused(databases[0]) {
                await #expect(throws: ShardFailure.self) { try await ledger.record(results) }
                let marked = try await ledger.markDispatching(claims)
                #expect(marked.isEmpty, "those of the first are settled")
            }
            let kept = try await ledger.sweepOutbox()
            let rest = try await ledger.record(results).outbox
            #expect(Set(kept.map(\.shard)) == [0] && Set(rest.map(\.shard)) == [1])
            #expect(Set((kept + rest).map(\.stream)).count == 30)
        }
    }

    @Test func `a receipt finds its provider's message, and not another one's of that name in another shard`()
        async throws
    {
        try await LedgerDatabase.withShards(2) { databases in
            let worker = LedgerWorker(databases.ledger())
            let claims = try await worker.claims(20)
            var sends: [ClaimedSend] = []
            for shard: UInt8 in 0..<2 { sends.append(try #require(claims.first { $0.id.uuid.shard == shard })) }
            _ = try await worker.ledger.markDispatching(sends)
            let results = zip(sends, ["first", "second"]).map { send, provider in
                SendResult(
                    send: send.reference,
                    disposition: .sent,
                    attempts: 1,
                    attempt: .init(provider: provider, messageID: "42", segments: nil, encoding: nil, errorCode: nil)
                )
            }
            try await worker.publish(try await worker.ledger.record(results))
            for (send, provider) in zip(sends, ["first", "second"]) {
                let receipt = Receipt(provider: provider, sendID: nil, providerMessageID: "42", status: .delivered)
                let told = try await worker.ledger.receive([ReceivedReceipt(receipt)], deadLetters: [])
                #expect(told.value.map(\.reference.id) == [send.id])
            }
        }
    }

    @Test func `when every shard is away, that is said`() async throws {
        try await LedgerDatabase.withShards(2) { databases in
            let ledger = databases.ledger()
            try await LedgerDatabase.with { other in
                try await databases[0].withConnectionsRefused(other) {
                    try await databases[1].withConnectionsRefused(other) {
                        await #expect(throws: ShardFailure.self) { try await ledger.sweepSends(capacity: 1) }
                        await #expect(throws: ShardFailure.self) { try await ledger.sweepOutbox() }
                        await #expect(throws: ShardFailure.self) { try await ledger.maintain() }
                    }
                }
            }
        }
    }
}
