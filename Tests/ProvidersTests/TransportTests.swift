// SPDX-License-Identifier: Apache-2.0

import Formats
import NIOCore
import NIOPosix
import Providers
import TestTools
import Testing
import Verification

@Suite(.serialized, .timeLimit(.minutes(1))) struct `A failing transport` {
    /// Checks that a call ends at its deadline: not earlier, and at most 20 s later on a busy machine.
    private func timed(
        _ deadline: Duration,
        _ call: (Duration) async throws -> ProviderAnswer
    ) async throws -> ProviderAnswer {
        let start = ContinuousClock.now
        let answer = try await call(deadline)
        let elapsed = start.duration(to: .now)
        #expect(elapsed >= deadline)
        #expect(elapsed < deadline + .seconds(20))
        return answer
    }

    /// Runs the body while a call to a silent server is in flight, and then cancels that call.
    private func beside(
        _ provider: any MessageProvider,
        _ server: ScriptedServer,
        _ body: () async throws -> Void
    ) async throws {
        let message = try message(within: .seconds(60))
        try await withThrowingTaskGroup(of: ProviderAnswer.self) { group in
            group.addTask { await provider.send(message) }
            try await eventually("the first call arrives") { server.seen.requests.count == 1 }
            try await body()
            group.cancelAll()
            #expect(try await group.next() == ProviderAnswer(.unknown, errorCode: "cancelled"))
        }
    }

    private func send(to url: String, within deadline: Duration = .seconds(30)) async throws -> ProviderAnswer {
        try await ModuleSample.twilio.with(baseURL: url) { await $0.send(try message(within: deadline)) }
    }

    // MARK: Surely not sent

    @Test(arguments: ["", "nonsense", "ftp://127.0.0.1", "http://"])
    func `with a wrong address is a configuration fault`(url: String) async throws {
        let sample = ModuleSample.twilio.changing { (configuration: inout TwilioConfiguration) in
            configuration.baseURL = url
        }
        #expect(try await sample.exchange([created]).answer == ProviderAnswer(.misconfigured, errorCode: "invalid_url"))
    }

    @Test func `that speaks no TLS sends nothing`() async throws {
        try await ScriptedServer.with([.answer("not TLS")]) { server in
            let plain = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(host: "127.0.0.1", port: server.port).get()
            try await plain.close().get()
            let answer = try await send(to: "https://127.0.0.1:\(server.port)", within: .milliseconds(400))
            #expect(answer.outcome == .notSent)
            #expect(server.seen.requests.isEmpty)
        }
    }

    @Test func `that never shakes hands gives its place back`() async throws {
        try await ScriptedServer.with([.silence]) { server in
            try await ModuleSample.twilio.with(baseURL: "https://127.0.0.1:\(server.port)") { provider in
                let answer = await provider.send(try message(within: .seconds(4)))
                #expect(answer.outcome == .notSent)
                try await eventually("the connection is closed") { server.seen.closedConnections == 1 }
            }
        }
    }

    @Test func `that swallows connection attempts sends nothing by the deadline`() async throws {
        try await withBlackHole { port, _ in
            let answer = try await ModuleSample.twilio.with(baseURL: "http://127.0.0.1:\(port)") { provider in
                try await timed(.milliseconds(500)) { await provider.send(try message(within: $0)) }
            }
            #expect(answer == ProviderAnswer(.notSent, errorCode: "timeout"))
        }
    }

    @Test func `that swallows connection attempts is given up after three seconds`() async throws {
        try await withBlackHole { port, _ in
            let start = ContinuousClock.now
            let answer = try await send(to: "http://127.0.0.1:\(port)", within: .seconds(60))
            #expect(answer == ProviderAnswer(.notSent, errorCode: "connect_timeout"))
            #expect(start.duration(to: .now) < .seconds(30))
        }
    }

    @Test func `that has no free connection sends nothing of the waiting call`() async throws {
        try await ScriptedServer.with([.silence]) { server in
            try await ModuleSample.twilio.with(baseURL: server.url, maximumConnections: 1) { provider in
                try await beside(provider, server) {
                    let second = await provider.send(try message(within: .milliseconds(200)))
                    #expect(second == ProviderAnswer(.notSent, errorCode: "timeout"))
                }
                #expect(server.seen.requests.count == 1)
            }
        }
    }

    @Test func `that is free only when a message is too late gets nothing of it`() async throws {
        try await ScriptedServer.with([.silence, created]) { server in
            try await ModuleSample.twilio.with(baseURL: server.url, maximumConnections: 1) { provider in
                try await beside(provider, server) {
                    let start = ContinuousClock.now
                    let late = try message(within: .seconds(60), leavingWithin: .milliseconds(300))
                    #expect(await provider.send(late) == .tooLate)
                    #expect(start.duration(to: .now) < .seconds(20))
                }
                #expect(server.seen.requests.count == 1)
            }
        }
    }

    @Test func `that is too late already gets nothing`() async throws {
        try await ScriptedServer.with([created]) { server in
            try await ModuleSample.twilio.with(baseURL: server.url) { provider in
                let late = try message(leavingWithin: .zero)
                #expect(await provider.send(late) == .tooLate)
                #expect(server.seen.requests.isEmpty)
            }
        }
    }

    @Test func `whose time is over before it starts sends nothing`() async throws {
        let (answer, seen) = try await ModuleSample.twilio.exchange([created], message(within: .zero))
        #expect(answer == ProviderAnswer(.notSent, errorCode: "timeout"))
        #expect(seen.connections == 0)
    }

    // MARK: Unknown, and never repeated

    @Test func `that closes at once never has a complete body`() async throws {
        let (answer, seen) = try await ModuleSample.twilio.exchange([.closeOnConnect])
        #expect(answer.outcome == .unknown || answer.outcome == .notSent)
        #expect(seen.requests.isEmpty)
        #expect(seen.connections == 1)
    }

    @Test(arguments: [ServerStep.closeAfterBody, .resetAfterBody])
    func `that ends on a kept connection leaves one body and an unknown outcome`(ending: ServerStep) async throws {
        try await ScriptedServer.with([created, ending, created]) { server in
            try await ModuleSample.twilio.with(baseURL: server.url) { provider in
                #expect(await provider.send(try message()).outcome == .accepted)
                let second = await provider.send(try message())
                #expect(second == ProviderAnswer(.unknown, errorCode: "connection_closed"))
                try await eventually("the connection is closed") { server.seen.closedConnections == 1 }
                #expect(server.seen.requests.count == 2)
                #expect(server.seen.connections == 1)
                #expect(await provider.send(try message()).outcome == .accepted)
                #expect(server.seen.connections == 2)
            }
        }
    }

    @Test(arguments: [
        ServerStep.silence, .drip("HTTP/1.1 201 Created\r\nX-Slow: "),
    ])
    func `that is slow ends at the deadline and drops the connection`(step: ServerStep) async throws {
        try await ScriptedServer.with([step]) { server in
            try await ModuleSample.twilio.with(baseURL: server.url) { provider in
                let answer = try await timed(.seconds(2)) { await provider.send(try message(within: $0)) }
                #expect(answer == ProviderAnswer(.unknown, errorCode: "timeout"))
                try await eventually("the connection is dropped") { server.seen.closedConnections == 1 }
                #expect(server.seen.requests.count == 1)
            }
        }
    }

    @Test func `whose caller is cancelled is unknown at once`() async throws {
        try await ScriptedServer.with([.silence]) { server in
            try await ModuleSample.twilio.with(baseURL: server.url) { provider in
                let message = try message(within: .seconds(60))
                let start = ContinuousClock.now
                let answer = await withTaskGroup(of: ProviderAnswer?.self) { group in
                    group.addTask { await provider.send(message) }
                    group.addTask {
                        try? await eventually("the call arrives") { server.seen.requests.count == 1 }
                        return nil
                    }
                    _ = await group.next()
                    group.cancelAll()
                    return await group.next() ?? nil
                }
                #expect(answer == ProviderAnswer(.unknown, errorCode: "cancelled"))
                #expect(start.duration(to: .now) < .seconds(30))
            }
        }
    }

    /// The second call's connection opens a second before the first call's, and so serves the first call.
    @Test func `that cuts a connection fails no call that waits for another one`() async throws {
        try await withBlackHole { port, listener in
            let url = "http://127.0.0.1:\(port)"
            let answers = try await ModuleSample.twilio.with(baseURL: url) { provider in
                let message = try message(within: .seconds(30))
                async let first = provider.send(message)
                // Gives the kernel time to drop the attempt, which no signal reports.
                try await Task.sleep(for: .milliseconds(300))
                try await listener.setOption(.autoRead, value: true).get()
                return await [provider.send(message), first]
            }
            #expect(answers.map(\.outcome) == [.unknown, .unknown])
        }
    }

    @Test func `does not mix up ten calls at once`() async throws {
        try await ScriptedServer.with([created]) { server in
            try await ModuleSample.twilio.with(baseURL: server.url, maximumConnections: 4) { provider in
                let message = try message()
                let answers = await withTaskGroup(of: ProviderAnswer.self) { group in
                    for _ in 0..<10 { group.addTask { await provider.send(message) } }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                #expect(answers.count == 10)
                #expect(answers.allSatisfy { $0.outcome == .accepted })
                #expect(server.seen.requests.count == 10)
                #expect(server.seen.connections <= 4)
            }
        }
    }
}
