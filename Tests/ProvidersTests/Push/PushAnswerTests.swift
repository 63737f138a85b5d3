// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOHTTP2
import TestSupport
import TestTools
import Testing
import Verification

@testable import Providers

@Suite(.serialized, .timeLimit(.minutes(5))) struct `Apple's answer` {
    struct Case: Sendable, CustomTestStringConvertible {
        let status: Int
        let reason: String
        let outcome: ProviderOutcome
        let code: String

        init(_ status: Int, _ reason: String, _ outcome: ProviderOutcome, _ code: String? = nil) {
            (self.status, self.reason, self.outcome, self.code) = (status, reason, outcome, code ?? reason)
        }

        var testDescription: String { "\(status) \(reason)" }
    }

    static let cases = [
        Case(400, "BadDeviceToken", .refused), Case(400, "DeviceTokenNotForTopic", .refused),
        Case(400, "TopicDisallowed", .refused), Case(413, "PayloadTooLarge", .refused),
        Case(410, "Unregistered", .refused), Case(410, "ExpiredToken", .refused, "Unregistered"),
        Case(410, "", .refused, "Unregistered"), Case(403, "InvalidProviderToken", .misconfigured),
        Case(403, "MissingProviderToken", .misconfigured), Case(403, "BadCertificate", .misconfigured),
        Case(403, "BadEnvironmentKeyInToken", .misconfigured), Case(404, "BadPath", .misconfigured),
        Case(405, "MethodNotAllowed", .misconfigured), Case(429, "TooManyRequests", .notSent),
        Case(429, "TooManyProviderTokenUpdates", .throttled), Case(500, "InternalServerError", .unknown),
        Case(503, "ServiceUnavailable", .notSent), Case(503, "Shutdown", .notSent),
        Case(400, "SomethingNew +16505550123", .refused, "http_400"), Case(403, "New", .misconfigured, "http_403"),
        Case(429, "New", .throttled, "http_429"), Case(502, "New", .unknown, "http_502"),
        Case(503, "New", .notSent, "http_503"), Case(301, "New", .misconfigured, "http_301"),
    ]

    @Test(arguments: cases)
    func `is understood by its reason, or by its status`(answer: Case) async throws {
        let (result, seen) = try await exchange { _, _ in .refuse(answer.status, answer.reason) }
        let isOfDevice = answer.reason == "TooManyRequests"
        #expect(result == ProviderAnswer(answer.outcome, errorCode: answer.code, isOfMessage: isOfDevice))
        #expect(seen.pushes.count == 1)
    }

    @Test(arguments: [
        "", "{", "[]", "null", #"{"reason":7}"#, #"{"reason":null}"#, "\u{0}", #"{"reason":"BadDeviceToken""#,
    ])
    func `with any body is understood by its status`(body: String) async throws {
        let (result, _) = try await exchange { _, _ in .say(400, body) }
        #expect(result == ProviderAnswer(.refused, errorCode: "http_400"))
    }

    @Test func `may ask to wait`() async throws {
        let (result, _) = try await exchange { _, _ in
            .refuse(503, "ServiceUnavailable", headers: [("retry-after", "7")])
        }
        #expect(result == ProviderAnswer(.notSent, errorCode: "ServiceUnavailable", retryAfter: .seconds(7)))
    }

    @Test func `that takes the push is acceptance whatever else it says`() async throws {
        let (result, _) = try await exchange { _, _ in .say(200, "nonsense") }
        #expect(result == ProviderAnswer(.accepted, messageID: sendIDText))
    }

    // MARK: No answer

    @Test func `that refuses the stream is proof that nothing was sent`() async throws {
        let (result, seen) = try await exchange { _, _ in .reset(.refusedStream) }
        #expect(result == ProviderAnswer(.notSent, errorCode: "stream_refused"))
        #expect(seen.pushes.count == 1)
    }

    @Test(arguments: [HTTP2ErrorCode.internalError, .cancel, .noError, .enhanceYourCalm])
    func `that resets the stream leaves one push and an unknown outcome`(code: HTTP2ErrorCode) async throws {
        let (result, seen) = try await exchange { _, _ in .reset(code) }
        #expect(result.outcome == .unknown)
        #expect(seen.pushes.count == 1)
    }

    @Test func `that never comes since the server went away before looking at the push has sent nothing`() async throws
    {
        let (result, seen) = try await exchange { _, _ in .goAway(isLeftOut: true) }
        #expect(result == ProviderAnswer(.notSent, errorCode: "stream_refused"))
        #expect(seen.connections == 1)
    }

    @Test func `that comes after the server said it goes away is one`() async throws {
        let (result, _) = try await exchange { _, _ in .goAway(isLeftOut: false) }
        #expect(result.outcome == .accepted)
    }

    @Test(arguments: [PushStep.close, .resetAndGoAway])
    func `that never comes as the connection ends leaves one push and an unknown outcome`(step: PushStep) async throws {
        let (result, seen) = try await exchange { _, _ in step }
        #expect(result.outcome == .unknown)
        #expect(seen.pushes.count == 1)
        #expect(seen.connections == 1)
    }

    @Test func `that never comes leaves an unknown outcome by the deadline`() async throws {
        let script: PushServer.Script = { _, index in index == 0 ? .accept : .silence }
        try await PushServer.with(script) { server in
            let provider = try pushProvider(server)
            // The connection is already open, so the deadline applies to the answer only.
            #expect(await provider.deliver(try push()).outcome == .accepted)
            let start = ContinuousClock.now
            let result = await provider.send(try push(within: .seconds(8)))
            #expect(result == ProviderAnswer(.unknown, errorCode: "timeout"))
            #expect(start.duration(to: .now) < .seconds(20))
            #expect(server.seen.pushes.count == 2)
        }
    }

    @Test func `is not waited for when the push was too late to leave`() async throws {
        try await PushServer.with(PushServer.always(.accept)) { server in
            let provider = try pushProvider(server)
            let late = await provider.deliver(try push(leavingWithin: .zero))
            #expect(late == .tooLate)
            #expect(server.seen.pushes.isEmpty)
            #expect(await provider.deliver(try push()).outcome == .accepted)
        }
    }

    @Test func `from a host nobody vouches for gets nothing`() async throws {
        try await PushServer.with(PushServer.always(.accept)) { server in
            let answer = await (try pushProvider(server, authorities: nil)).deliver(try push())
            #expect(answer == ProviderAnswer(.notSent, errorCode: "tls_failed"))
            #expect(server.seen.pushes.isEmpty)
        }
    }

    @Test func `comes over a new connection when the old one is old`() async throws {
        try await PushServer.with(PushServer.always(.accept)) { server in
            let provider = try pushProvider(server, greatestAge: .zero)
            for _ in 0..<3 { #expect(await provider.deliver(try push()).outcome == .accepted) }
            #expect(server.seen.connections == 3)
        }
    }

    @Test func `is trusted by the authorities of a file, which is read again when it changes`() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).pem").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await PushServer.with(PushServer.always(.accept)) { server in
            let provider = try pushProvider(server, authorities: path)
            // Without the file no certificate is trusted.
            #expect(await provider.deliver(try push()) == ProviderAnswer(.notSent, errorCode: "tls_failed"))
            try SelfSigned.certificate.write(toFile: path, atomically: true, encoding: .utf8)
            #expect(await provider.deliver(try push()).outcome == .accepted)
            // An empty file, as while it is being written, or a directory leaves the previous authorities in use.
            try "".write(toFile: path, atomically: true, encoding: .utf8)
            #expect(await provider.deliver(try push()).outcome == .accepted)
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            #expect(await provider.deliver(try push()).outcome == .accepted)
            #expect(server.seen.connections <= 4)
        }
    }

    @Test func `comes over a new connection after the old one went away`() async throws {
        let script: PushServer.Script = { _, index in index == 0 ? .goAway(isLeftOut: true) : .accept }
        try await PushServer.with(script) { server in
            let provider = try pushProvider(server)
            #expect(await provider.deliver(try push()).outcome == .notSent)
            #expect(await provider.deliver(try push()).outcome == .accepted)
            #expect(server.seen.connections == 2)
        }
    }
}
