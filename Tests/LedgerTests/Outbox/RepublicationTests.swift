// SPDX-License-Identifier: Apache-2.0

import Formats
import Ledger
import TestSupport
import Testing
import Verification

/// Tests that an event which is published again has the bytes of its first publication: consumers deduplicate by its id.
@Suite(.timeLimit(.minutes(5))) struct RepublicationTests {
    /// The worker dies before it deletes what it has published, and before it commits the offsets of what it has read.
    @Test func `after a crash every kind of event is published again byte for byte, and none is decided anew`()
        async throws
    {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claims = try await worker.claims(2)
            try await worker.publish(try await worker.settle([claims[0]], .sent))
            let now = try await worker.now()
            let old = now - .seconds(3600)
            let earlier: [InboundRecord] = [
                .request(id: "landline", phoneNumber: "+1", offset: 10, at: now),
                .request(id: "conflict", purpose: "sign_up", offset: 11, at: old),
            ]
            try await worker.publish(try await worker.intake(earlier))
            let records: [InboundRecord] =
                .people(1, round: 1, at: now) + [
                    .raw("no JSON", offset: 20, at: now),
                    .raw(#"{"requestId":"shape","purpose":"none"}"#, offset: 21, at: now),
                    .request(id: "tenant", offset: 22, at: now, more: #","tenant":"nobody""#),
                    .request(id: "stale", offset: 23, at: old),
                    .request(id: "landline", phoneNumber: "+1", offset: 24, at: now),
                    .request(id: "conflict", purpose: "sign_in", offset: 25, at: now),
                    .request(id: "conflict", purpose: "sign_up", offset: 26, at: now),
                ]
            let outcome = try await worker.settle([claims[1]], .sent).outbox
            let published = try await worker.intake(records).outbox + outcome
            #expect(
                published.map { $0.json?.text("reason") ?? $0.json?.text("status") } == [
                    "resend_window", nil, "invalid_request", "unknown_tenant", "stale_request", "invalid_phone_number",
                    "request_id_conflict", "duplicate_request", "sent",
                ]
            )

            try await database.lapseOutbox()
            let survivor = LedgerWorker(database.ledger())
            let again = try await survivor.intake(earlier + records)
            #expect(again.value.isEmpty && again.outbox.isEmpty)
            let swept = try await survivor.ledger.sweepOutbox()
            #expect(swept.sorted { $0.stream < $1.stream } == published.sorted { $0.stream < $1.stream })
        }
    }
}
