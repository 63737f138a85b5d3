// SPDX-License-Identifier: Apache-2.0

import Formats
import SMTPClient
import TestSupport
import TestTools
import Testing
import Verification

@testable import Providers

@Suite(.serialized, .timeLimit(.minutes(5))) struct `A faulty mail server` {
    private static let early: [MailMoment] = [.greeting, .hello, .sender, .recipient, .data]

    private func send(
        _ script: [MailMoment: MailStep],
        within deadline: Duration = .seconds(30)
    ) async throws -> (answer: ProviderAnswer, seen: MailRecord) {
        try await ScriptedMailServer.with(script) { server in
            let answer = await (try mailProvider(port: server.port)).send(try mail(within: deadline))
            return (answer, server.seen)
        }
    }

    private func plainAddress(of server: ScriptedMailServer) -> SMTPServer {
        SMTPServer(host: "127.0.0.1", port: server.port, encryption: .none, heloName: "us.example.com")
    }

    @Test func `that behaves takes one message over one connection`() async throws {
        let (answer, seen) = try await send([:])
        #expect(answer.outcome == .accepted)
        #expect(seen.bodies == 1)
        #expect(seen.connections == 1)
    }

    // MARK: Lost connections

    @Test(arguments: early, [MailStep.close, .reset])
    func `that goes away before the message has sent nothing`(moment: MailMoment, step: MailStep) async throws {
        let (answer, seen) = try await send([moment: step])
        #expect(answer.outcome == .notSent)
        // A reset may come while libcurl still waits for the end of its connect.
        let codes = ["connection_closed", "connection_failed", "transport_error"]
        #expect(codes.contains(answer.errorCode ?? ""))
        #expect(seen.bodies == 0)
        #expect(seen.connections == 1)
    }

    @Test(arguments: [MailStep.close, .reset])
    func `that goes away after the message leaves one message and an unknown outcome`(step: MailStep) async throws {
        let (answer, seen) = try await send([.content: step])
        #expect(answer == ProviderAnswer(.unknown, errorCode: "connection_closed"))
        #expect(seen.bodies == 1)
        #expect(seen.connections == 1)
    }

    @Test func `that is not there sends nothing`() async throws {
        let port = try await ScriptedMailServer.with([:]) { $0.port }
        let answer = await (try mailProvider(port: port)).send(try mail())
        #expect(answer == ProviderAnswer(.notSent, errorCode: "connection_refused"))
        let nameless = await (try mailProvider(host: "no-such-host.invalid", port: port)).send(try mail())
        #expect(nameless == ProviderAnswer(.notSent, errorCode: "name_not_resolved"))
    }

    // MARK: Silence

    @Test(arguments: early)
    func `that falls silent before the message has sent nothing by the deadline`(moment: MailMoment) async throws {
        let start = ContinuousClock.now
        let (answer, seen) = try await send([moment: .silence], within: .milliseconds(400))
        #expect(answer == ProviderAnswer(.notSent, errorCode: "timeout"))
        #expect(start.duration(to: .now) < .seconds(20))
        #expect(seen.bodies == 0)
    }

    @Test func `that falls silent after the message leaves an unknown outcome by the deadline`() async throws {
        for deadline in [Duration.seconds(2), .seconds(30)] {
            let start = ContinuousClock.now
            let (answer, seen) = try await send([.content: .silence], within: deadline)
            // On a busy machine a short deadline may pass before the message is sent.
            if deadline == .seconds(2), seen.bodies == 0 { continue }
            #expect(answer == ProviderAnswer(.unknown, errorCode: "timeout"))
            #expect(start.duration(to: .now) < deadline + .seconds(20))
            #expect(seen.bodies == 1)
            return
        }
    }

    @Test func `that stops reading within the message has surely not got it`() async throws {
        try await ScriptedMailServer.with([.data: .stall("354 go on")]) { server in
            // The content is larger than the system's buffers.
            let content = [UInt8](repeating: UInt8(ascii: "x"), count: 16_000_000)
            let envelope = SMTPEnvelope(sender: "a@example.com", recipient: "b@example.com", content: content)
            let call = SMTPCall(leaveBy: .now + .seconds(60))
            let address = plainAddress(of: server)
            let threads = MailThreads(count: 1)
            threads.submit(call) { address.deliver(envelope, within: .seconds(60), listener: call) }
            let result = await call.result()
            #expect(result == SMTPResult(step: .content, reply: nil, isComplete: false, failure: .timeout))
            #expect(SMTPAnswer.classify(result, messageID: "").outcome == .notSent)
            #expect(server.seen.bodies == 0)
        }
    }

    @Test func `that never says goodbye does not hold the answer up`() async throws {
        let start = ContinuousClock.now
        let (answer, _) = try await send([.quit: .silence], within: .seconds(60))
        #expect(answer.outcome == .accepted)
        #expect(start.duration(to: .now) < .seconds(30))
    }

    @Test func `holds up no more messages than there are connections, each for a moment`() async throws {
        try await ScriptedMailServer.with([.sender: .silence]) { server in
            let provider = try mailProvider(port: server.port, connections: 2)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<2 {
                    group.addTask { _ = await provider.send(try mail(within: .seconds(60))) }
                }
                try await eventually("two are on their way") { server.seen.connections == 2 }
                try await withThrowingTaskGroup(of: Void.self) { others in
                    for _ in 0..<10 {
                        others.addTask {
                            let start = ContinuousClock.now
                            let answer = await provider.send(try mail(within: .seconds(60)))
                            #expect(answer == .busy)
                            #expect(start.duration(to: .now) < .seconds(30))
                        }
                    }
                    try await others.waitForAll()
                }
                group.cancelAll()
                try await group.waitForAll()
            }
            #expect(server.seen.connections == 2)
        }
    }

    @Test func `gets no end of a message that has become too late meanwhile`() async throws {
        try await ScriptedMailServer.with([:]) { server in
            let envelope = SMTPEnvelope(sender: "a@example.com", recipient: "b@example.com", content: [1])
            let call = SMTPCall(leaveBy: .now)
            let address = plainAddress(of: server)
            let threads = MailThreads(count: 1)
            threads.submit(call) { address.deliver(envelope, within: .seconds(60), listener: call) }
            let result = await call.result()
            #expect(SMTPAnswer.classify(result, messageID: "") == .tooLate)
            #expect(server.seen.bodies == 0)
        }
    }

    @Test func `is not even called for a message that waited too long for a connection`() async throws {
        try await ScriptedMailServer.with([.sender: .silence]) { server in
            let provider = try mailProvider(port: server.port, connections: 1)
            async let first = provider.send(try mail(within: .seconds(1)))
            try await eventually("one is on its way") { server.seen.connections == 1 }
            let late = await provider.send(try mail(within: .seconds(20), leavingWithin: .milliseconds(100)))
            #expect(late == .tooLate)
            #expect(try await first.outcome == .notSent)
            #expect(server.seen.connections == 1)
        }
    }

    @Test func `leaves an unknown outcome to a caller that is cancelled, at once`() async throws {
        try await ScriptedMailServer.with([.sender: .silence]) { server in
            let provider = try mailProvider(port: server.port)
            let message = try mail(within: .seconds(30))
            let start = ContinuousClock.now
            let answer = try await withThrowingTaskGroup(of: ProviderAnswer.self) { group in
                group.addTask { await provider.send(message) }
                try await eventually("the connection stands") { server.seen.connections == 1 }
                group.cancelAll()
                return try await group.next()
            }
            #expect(answer == ProviderAnswer(.unknown, errorCode: "cancelled"))
            #expect(start.duration(to: .now) < .seconds(20))
            try await eventually("the connection ends") { server.seen.closedConnections == 1 }
        }
    }

    @Test func `is not even called when the time is over`() async throws {
        let (answer, seen) = try await send([:], within: .zero)
        #expect(answer == ProviderAnswer(.notSent, errorCode: "timeout"))
        #expect(seen.connections == 0)
    }

    // MARK: Refusals

    struct Refusal: Sendable, CustomTestStringConvertible {
        let moment: MailMoment
        let reply: String
        let outcome: ProviderOutcome
        let code: String

        init(_ moment: MailMoment, _ reply: String, _ outcome: ProviderOutcome, _ code: String) {
            (self.moment, self.reply, self.outcome, self.code) = (moment, reply, outcome, code)
        }

        var testDescription: String { "\(moment): \(reply)" }
    }

    static let refusals = [
        Refusal(.greeting, "421 busy", .notSent, "smtp_421"),
        Refusal(.greeting, "554 go away", .misconfigured, "smtp_554"),
        Refusal(.hello, "421 busy", .notSent, "smtp_421"),
        Refusal(.hello, "550 who?", .misconfigured, "smtp_550"),
        Refusal(.sender, "421 busy", .notSent, "smtp_421"),
        Refusal(.sender, "450 slowly", .throttled, "smtp_450"),
        Refusal(.sender, "451 broken", .notSent, "smtp_451"),
        Refusal(.sender, "452 slowly", .throttled, "smtp_452"),
        Refusal(.sender, "530 login first", .misconfigured, "smtp_530"),
        Refusal(.sender, "553 not yours", .misconfigured, "smtp_553"),
        Refusal(.recipient, "421 busy", .notSent, "smtp_421"),
        Refusal(.recipient, "450 greylisted", .notSent, "recipient_deferred"),
        Refusal(.recipient, "451 broken", .notSent, "recipient_deferred"),
        Refusal(.recipient, "452 4.2.2 mailbox full", .notSent, "recipient_deferred"),
        Refusal(.recipient, "530 login first", .misconfigured, "smtp_530"),
        Refusal(.recipient, "550 no such user", .refused, "recipient_refused"),
        Refusal(.recipient, "551 moved", .refused, "recipient_refused"),
        Refusal(.recipient, "552 full", .refused, "recipient_refused"),
        Refusal(.recipient, "553-ann@example.org\r\n553 wrong name", .refused, "recipient_refused"),
        Refusal(.recipient, "554 relay denied", .refused, "recipient_refused"),
        Refusal(.data, "421 busy", .notSent, "smtp_421"),
        Refusal(.data, "451 broken", .notSent, "smtp_451"),
        Refusal(.data, "554 no", .refused, "message_refused"),
        Refusal(.content, "421 busy", .notSent, "smtp_421"),
        Refusal(.content, "451 broken", .notSent, "smtp_451"),
        Refusal(.content, "452 full", .notSent, "smtp_452"),
        Refusal(.content, "550 spam", .refused, "message_refused"),
        Refusal(.content, "554-this\r\n554 is spam", .refused, "message_refused"),

        // The enhanced status code distinguishes a refused sender from a refused recipient.
        Refusal(.sender, "550 5.1.1 no such user", .refused, "recipient_refused"),
        Refusal(.sender, "552 5.3.4 too big", .refused, "message_refused"),
        Refusal(.recipient, "550 5.7.1 relay denied", .refused, "recipient_refused"),
        Refusal(.recipient, "550-5.1.8\r\n550 5.1.8 bad sender", .refused, "recipient_refused"),
        Refusal(.recipient, "550 5.2.1 disabled", .refused, "recipient_refused"),
        Refusal(.recipient, "550 5.7.13 disabled", .refused, "recipient_refused"),
        Refusal(.recipient, "599 5.9.9 of a later day", .refused, "recipient_refused"),
        Refusal(.recipient, "550 #5.1.0 Address rejected", .refused, "recipient_refused"),
        Refusal(.recipient, "550 5.7.1: not from you", .refused, "recipient_refused"),
        Refusal(.recipient, "550 (5.7.1) not from you", .refused, "recipient_refused"),
        Refusal(
            .recipient,
            "550-5.7.1 not from you,\r\n550-see\r\n550 https://example.com",
            .refused,
            "recipient_refused"
        ),
        Refusal(.recipient, "550 5.4.1 access denied", .refused, "recipient_refused"),
        Refusal(.recipient, "550 5.7.13.1 no code", .refused, "recipient_refused"),
        Refusal(.recipient, "550 1.2.3 no code", .refused, "recipient_refused"),
        Refusal(.recipient, "550", .refused, "recipient_refused"),
        Refusal(.recipient, "451 4.7.1 greylisted", .notSent, "recipient_deferred"),
        Refusal(.sender, "451 4.7.1 later", .notSent, "smtp_451"),
        Refusal(.content, "451 4.7.1 later", .notSent, "smtp_451"),
        Refusal(.content, "550-5.1.1 no such user\r\n550 bye", .refused, "recipient_refused"),
        Refusal(.content, "554 5.9.9 of a later day", .refused, "message_refused"),
        Refusal(.data, "421 4.7.0 too many", .notSent, "smtp_421"),
        Refusal(.data, "550 5.7.1 not from you", .refused, "message_refused"),
        Refusal(.content, "550 5.7.26 unauthenticated", .refused, "message_refused"),
        Refusal(.content, "550 5.1.1 no such user", .refused, "recipient_refused"),
        Refusal(.content, "554 5.6.0 content", .refused, "message_refused"),
        Refusal(.content, "452 4.2.2 mailbox full", .notSent, "recipient_deferred"),
    ]

    @Test(arguments: refusals)
    func `that refuses is understood by the command and the number`(refusal: Refusal) async throws {
        let (answer, seen) = try await send([refusal.moment: .say(refusal.reply)])
        let isDeferred =
            refusal.outcome == .notSent && refusal.code != "smtp_421"
            && [.data, .content].contains(refusal.moment)
        let isOfMessage = refusal.code == "recipient_deferred" || isDeferred
        #expect(answer == ProviderAnswer(refusal.outcome, errorCode: refusal.code, isOfMessage: isOfMessage))
        #expect(seen.bodies == (refusal.moment == .content ? 1 : 0))
        #expect(seen.connections == 1)
    }

    @Test func `that refuses six different people is taken for one that refuses this host, and one person for none`()
        async throws
    {
        let script: [MailMoment: MailStep] = [.recipient: .say("550 5.7.1 not from you")]
        try await ScriptedMailServer.with(script) { server in
            let provider = try mailProvider(port: server.port)
            let own = (1...5).map { "ann\($0)@example.org" } + ["ann1+a@example.org", "ANN2+b@example.org"]
            for recipient in own + own {
                let answer = await provider.send(try mail(to: recipient))
                #expect(answer == ProviderAnswer(.refused, errorCode: "recipient_refused"))
            }
            for recipient in ["bob@example.net", "ann1@example.org"] {
                let answer = await provider.send(try mail(to: recipient))
                #expect(answer == ProviderAnswer(.misconfigured, errorCode: "smtp_550"))
            }
        }
    }

    @Test func `that fails after the message for six different people is in trouble, and for one person is not`()
        async throws
    {
        try await ScriptedMailServer.with([.content: .say("451 4.7.1 later")]) { server in
            let provider = try mailProvider(port: server.port)
            for number in 1...7 {
                let answer = await provider.send(try mail(to: "p\(number)@example.org"))
                #expect(answer == ProviderAnswer(.notSent, errorCode: "smtp_451", isOfMessage: number <= 5))
            }
        }
    }

    @Test func `that serves one person in between refuses nobody for this host's sake`() throws {
        var streak = RefusalStreak()
        for round in 0..<3 {
            for number in 1...5 {
                let recipient = try #require(EmailAddress("p\(round)-\(number)@example.org"))
                let isOfHost = streak.refused(recipient)
                #expect(!isOfHost)
            }
            streak.served()
        }
    }

    @Test(arguments: ["454 not now", "502 no"])
    func `that offers TLS and then does not is never spoken to plainly`(reply: String) async throws {
        let script: [MailMoment: MailStep] = [.hello: .say("250-here\r\n250 STARTTLS"), .startTLS: .say(reply)]
        try await ScriptedMailServer.with(script) { server in
            let provider = try mailProvider(host: "localhost", port: server.port, encryption: .startTLS)
            let answer = await provider.send(try mail())
            #expect(answer.outcome == (reply.hasPrefix("4") ? .notSent : .misconfigured))
            #expect(server.seen.bodies == 0)
        }
    }

    @Test(arguments: ["nonsense", "999 what", "25", "", "250\u{0}", "\u{fffd}\u{fffd}"])
    func `that talks nonsense after the message leaves an unknown outcome`(words: String) async throws {
        for deadline in [Duration.milliseconds(1500), .seconds(30)] {
            let (answer, seen) = try await send([.content: .say(words)], within: deadline)
            // On a busy machine a short deadline may pass before the message is sent.
            if deadline < .seconds(30), seen.bodies == 0 { continue }
            #expect(answer.outcome == .unknown || (words.hasPrefix("250") && answer.outcome == .accepted))
            #expect(seen.bodies == 1)
            return
        }
    }

    @Test func `gives the right answer whose goodbye is refused too`() async throws {
        let script: [MailMoment: MailStep] = [.recipient: .say("550 no"), .quit: .silence]
        let start = ContinuousClock.now
        let (answer, _) = try await send(script, within: .seconds(60))
        #expect(answer == ProviderAnswer(.refused, errorCode: "recipient_refused"))
        #expect(start.duration(to: .now) < .seconds(30))
    }

    @Test func `learns nothing from a provider that is shown`() throws {
        let login = SMTPLogin(username: "courier", password: token)
        let provider = try mailProvider(port: 1, login: login)
        var text = "\(provider)"
        dump(provider, to: &text)
        #expect(!text.contains(token))
    }
}
