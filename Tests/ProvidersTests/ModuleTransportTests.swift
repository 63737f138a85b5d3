// SPDX-License-Identifier: Apache-2.0

import Formats
import NIOSSL
import Providers
import TestSupport
import TestTools
import Testing
import Verification

@Suite(.serialized, .timeLimit(.minutes(1))) struct `The transport of every module` {
    private static let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    /// A server's behaviour after the whole request has arrived, and the expected outcome and code.
    ///
    /// A truncated success counts as accepted, except for modules that report refusals only in the body.
    static let steps: [(ServerStep, ProviderOutcome, String)] = [
        (.closeAfterBody, .unknown, "connection_closed"),
        (.resetAfterBody, .unknown, "connection_closed"),
        (.answer("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"), .accepted, "timeout"),
        (.answer("SSH-2.0-OpenSSH_9.2\r\n\r\n"), .unknown, "malformed_answer"),
        (.silence, .unknown, "timeout"),
        (.drip("HTTP/1.1 200 OK\r\nX-Slow: "), .unknown, "timeout"),
        (.drip("HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n"), .accepted, "timeout"),
        (.drip("HTTP/1.1 403 Forbidden\r\nContent-Length: 60000\r\n\r\n"), .misconfigured, "http_403"),
        (.endless(head), .accepted, "answer_too_large"),
        (.answer("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n"), .accepted, "answer_too_large"),
        (.answer("HTTP/1.1 307 Moved\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n"), .misconfigured, "http_307"),
    ]

    @Test(arguments: ModuleSample.all)
    func `that fails after the request is told apart, within the deadline and after one request`(
        module: ModuleSample
    ) async throws {
        for (step, outcome, code) in Self.steps {
            let start = ContinuousClock.now
            let isSlow = code == "timeout" || code == "http_403"
            let deadline = isSlow ? Duration.seconds(1) : .seconds(120)
            let (answer, seen) = try await module.exchange([step], message(within: deadline))
            #expect(start.duration(to: .now) < .seconds(100), "\(step)")
            // On a busy machine a short deadline may pass before the request is sent.
            if isSlow, seen.requests.isEmpty {
                #expect(answer.outcome == .notSent || answer.outcome == .unknown, "\(step)")
            } else {
                #expect(answer == Self.expected(module, outcome, code), "\(step)")
                #expect(seen.requests.count == 1 && seen.connections == 1, "\(step)")
            }
        }
    }

    private static func expected(_ module: ModuleSample, _ outcome: ProviderOutcome, _ code: String) -> ProviderAnswer {
        guard outcome == .accepted else { return ProviderAnswer(outcome, errorCode: code) }
        let tellsInTheBody = module.testDescription == ModuleSample.vonageSMS.testDescription
        return tellsInTheBody ? ProviderAnswer(.unknown, errorCode: code, isOfMessage: true) : ProviderAnswer(.accepted)
    }

    @Test(arguments: ModuleSample.all)
    func `that never begins sends nothing`(module: ModuleSample) async throws {
        let port = try await ScriptedServer.with([.silence]) { $0.port }
        for host in ["127.0.0.1", "localhost"] {
            try await module.with(baseURL: "http://\(host):\(port)") { provider in
                let refused = await provider.send(try message())
                #expect(refused == ProviderAnswer(.notSent, errorCode: "connection_refused"))
            }
        }
        try await ScriptedServer.with([created], tls: try selfSignedContext()) { server in
            try await module.with(baseURL: "https://localhost:\(server.port)") { provider in
                let untrusted = await provider.send(try message())
                #expect(untrusted == ProviderAnswer(.notSent, errorCode: "tls_failed"))
            }
            #expect(server.seen.requests.isEmpty)
        }
        try await module.with(baseURL: "http://no-such-host.invalid") { provider in
            let unresolved = await provider.send(try message())
            #expect(unresolved == ProviderAnswer(.notSent, errorCode: "name_not_resolved"))
        }
    }

    @Test(arguments: ModuleSample.all)
    func `takes messages over TLS, on one connection`(module: ModuleSample) async throws {
        let script = [answer("200 OK", module.success)]
        try await ScriptedServer.with(script, tls: try selfSignedContext()) { server in
            let url = "https://localhost:\(server.port)"
            let message = try message()
            try await module.with(baseURL: url, trusting: try selfSignedAuthorities()) { provider in
                for _ in 0..<2 { #expect(await provider.send(message) == module.accepted) }
            }
            #expect(server.seen.requests.count == 2)
            #expect(server.seen.connections == 1)
        }
    }

    @Test func `sends nothing over a version of TLS that is broken`() async throws {
        try await ScriptedServer.with([created], tls: try selfSignedContext(upTo: .tlsv11)) { server in
            let url = "https://localhost:\(server.port)"
            let message = try message()
            try await ModuleSample.twilio.with(baseURL: url, trusting: try selfSignedAuthorities()) { provider in
                #expect(await provider.send(message).outcome == .notSent)
            }
            #expect(server.seen.requests.isEmpty)
        }
    }

    @Test(arguments: ModuleSample.all)
    func `asks for answers that are not compressed`(module: ModuleSample) async throws {
        #expect(try await module.request().header("accept-encoding") == "identity")
    }

    @Test(arguments: ModuleSample.all)
    func `carries the trace that the message belongs to`(module: ModuleSample) async throws {
        let traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        let trace = try #require(TraceContext(traceparent: Array(traceparent.utf8)))
        let request = try await module.request(message(within: .seconds(30), trace: trace))
        #expect(request.header("traceparent") == traceparent)
        #expect(try await module.request().header("traceparent") == nil)
    }

    @Test(arguments: ModuleSample.all)
    func `holds no more of an endless answer than its limit`(module: ModuleSample) async throws {
        try await ScriptedServer.with([.endless(Self.head)]) { server in
            try await module.with(baseURL: server.url) { provider in
                for _ in 0..<5 { _ = await provider.send(try message()) }
                try await eventually("the connections are dropped") { server.seen.closedConnections == 5 }
                // Only the kernel's buffers can take bytes beyond the limit.
                #expect(server.seen.bytesWritten < 64 * 1024 * 1024)
            }
        }
    }

    @Test(arguments: ModuleSample.all)
    func `shows the secret in no description, dump or mirror`(module: ModuleSample) async throws {
        let configuration = try module.configuration("http://127.0.0.1:1")
        try await module.with(baseURL: "http://127.0.0.1:1") { provider in
            var output = "\(provider) \(String(reflecting: provider)) \(configuration)"
            output += "\(String(reflecting: configuration)) \(Array(Mirror(reflecting: Secret(token)).children))"
            dump(provider, to: &output)
            dump(configuration, to: &output)
            #expect(output.contains("main"))
            #expect(!output.contains(token))
            #expect(!output.contains("PRIVATE KEY"))
            #expect(!output.contains(RSAKey.pem.split(separator: "\n")[1]))
        }
    }
}
