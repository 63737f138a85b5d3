// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KafkaClient
import MockKafka
import Testing

@testable import CodeCourier

@Suite("request send", .timeLimit(.minutes(1))) struct RequestCommandTests {
    private let cluster: MockCluster

    init() throws {
        cluster = try MockCluster(brokers: 1)
        let topics = KafkaSettings.Topics()
        for topic in [topics.requests, topics.deliveries] { try cluster.createTopic(topic, partitions: 1) }
    }

    private func send(wait: Int) async throws {
        let words = ["--phone", "+16502530000", "--wait", "\(wait)", "--bootstrap-servers", cluster.bootstrapServers]
        try await RequestCommand.Send.parse(words).run()
    }

    @Test func `it tells by its exit code that no event came, where it waited for one`() async throws {
        await #expect(throws: ExitCode(1)) { try await send(wait: 1) }
        try await send(wait: 0)
    }

    @Test(
        arguments: [
            [], ["--phone", "+16502530000", "--email", "ada@example.com"], ["--phone", "+16502530000", "--url", "x"],
            ["--device-token", "ab"], ["--phone", "+16502530000", "--bundle-id", "com.example.app"],
            ["--phone", "+16502530000", "--language", "klingon"], ["--phone", "+16502530000", "--wait=-1"],
        ]
    )
    func `options that contradict each other are refused before anything is sent`(words: [String]) {
        #expect(throws: (any Error).self) { try RequestCommand.Send.parse(words) }
    }

    @Test func `a request has the channel and the fields of its recipient`() throws {
        let mail = RequestDraft(requestID: "r", recipient: .email("ada@example.com", url: "https://example.com/"))
        let push = RequestDraft(requestID: "r", recipient: .device(token: "ab", bundleID: "com.example.app"))
        let text = [mail, push].map { String(decoding: $0.json, as: UTF8.self) }
        #expect(text[0].contains(#""channel":"email""#) && text[0].contains(#""url":"https://example.com/""#))
        #expect(text[1].contains(#""channel":"apns""#) && text[1].contains(#""bundleId":"com.example.app""#))
        #expect([mail, push].map(\.key) == ["ada@example.com", "ab"])
    }

    @Test func `the line that checks the code follows a message, and an earlier one's`() {
        let request = RequestDraft(requestID: "r", purpose: "sign_up", recipient: .phone("+16502530000"))
        func next(_ status: String, _ reason: String = "") -> String? {
            let words = #""status":"\#(status)","reason":"\#(reason)""#
            let event = EventLine(Array(#"{"requestId":"r","verificationId":"v",\#(words)}"#.utf8))
            return RequestCommand.Send.next(event, request)
        }
        #expect(next("sent") == "with its code: code-courier verify --verification v --code … --purpose sign_up")
        #expect(next("suppressed", "resend_window")?.hasPrefix("the code of the earlier message is good: ") == true)
        #expect(next("suppressed", "send_pending")?.hasPrefix("the code is on its way; when it came: ") == true)
        #expect(next("rejected", "locked") == nil)
        #expect(next("rejected", "quota_tenant")?.contains("limits.perTenant") == true)
    }

    @Test func `the exit code tells a message on its way from none`() {
        let none = ["rejected", "failed", "expired_unsent", "undelivered", "expired"]
        #expect(none.allSatisfy { !RequestCommand.Send.isOnItsWay($0) })
        #expect(["sent", "delivered", "suppressed", "unknown"].allSatisfy { RequestCommand.Send.isOnItsWay($0) })
    }
}
