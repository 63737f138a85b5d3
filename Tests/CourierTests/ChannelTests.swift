// SPDX-License-Identifier: Apache-2.0

import Formats
import Logs
import TestSupport
import Testing
import Verification

@testable import Courier

@Suite(.timeLimit(.minutes(5))) struct ChannelTests {
    @Test func `a push hands the secret and the verification's id to its device, by no provider of text messages`()
        async throws
    {
        let journal = Journal()
        let text = MemoryProvider("text", journal: journal)
        let push = MemoryProvider("push", channel: .apns, journal: journal)
        try await MemoryWorker.with([text, push], journal: journal) { worker in
            worker.source.add(records: [.push(id: "r1", at: .now)])
            try await worker.settle(events: 1)
            #expect(worker.sink.answers == ["sent"])
        }
        #expect(text.messages.isEmpty)
        guard case .push(let message)? = push.messages.first?.content else {
            Issue.record("a push was sent")
            return
        }
        #expect(push.messages.count == 1)
        #expect(message.device.bundleID == "com.example.app")
        #expect(message.secret.utf8.count == 43)
        #expect(UUIDValue(message.receipt) != nil)
    }

    @Test func `a message that no provider takes fails and is given to no other`() async throws {
        let journal = Journal()
        let text = MemoryProvider("text", journal: journal)
        try await MemoryWorker.with([text], journal: journal) { worker in
            worker.source.add(records: [.email(id: "r1", at: .now), .push(id: "r2", offset: 1, at: .now)])
            try await worker.settle(events: 2)
            #expect(worker.sink.answers == ["failed no_route", "failed no_route"])
        }
        #expect(text.messages.isEmpty)
    }
}
