// SPDX-License-Identifier: Apache-2.0

import Crypto
import FoundationEssentials
import TestSupport
import TestTools
import Testing
import Verification

@testable import Providers

@Suite(.serialized, .timeLimit(.minutes(5))) struct `A push` {
    private struct Claims: Decodable, Equatable {
        let iss: String
        let iat: Int
    }

    private struct Header: Decodable, Equatable {
        let alg: String
        let kid: String
    }

    private func bytes(_ text: Substring) throws -> Data {
        var base64 = String(text).replacing("-", with: "+").replacing("_", with: "/")
        while !base64.utf8.count.isMultiple(of: 4) { base64 += "=" }
        return try #require(Data(base64Encoded: base64))
    }

    @Test func `goes out by HTTP 2 with what Apple asks for`() async throws {
        let clock = PushClock()
        try await PushServer.with(PushServer.always(.accept)) { server in
            let answer = await (try pushProvider(server, clock: clock)).deliver(try push())
            #expect(answer == ProviderAnswer(.accepted, messageID: sendIDText))
            let sent = try #require(server.seen.pushes.first)
            #expect(server.seen.pushes.count == 1)
            #expect(sent.headers[":method"] == "POST")
            #expect(sent.headers[":scheme"] == "https")
            #expect(sent.headers[":path"] == "/3/device/" + String(repeating: "00ff", count: 16))
            #expect(sent.headers["apns-push-type"] == "background")
            #expect(sent.headers["apns-priority"] == "5")
            #expect(sent.headers["apns-topic"] == "com.example.app")
            #expect(sent.headers["apns-id"] == sendIDText)
            #expect(sent.headers["apns-expiration"] == String(1_795_000_000 + 600))
            let expected = """
                {"aps":{"content-available":1},\
                "com.google.firebase.auth":{"receipt":"receipt-1","secret":"\(token)"}}
                """
            #expect(sent.body == expected)
        }
    }

    @Test func `leaves no connection of a key that has been replaced`() async throws {
        try await PushServer.with(PushServer.always(.accept)) { server in
            for _ in 0..<20 {
                // A changed file creates a new provider, so each round makes one.
                let provider = try pushProvider(server)
                #expect(await provider.deliver(try push()).outcome == .accepted)
                #expect(try openConnections(to: server.port) > 0)
            }
            try await eventually("all are closed") { try openConnections(to: server.port) == 0 }
        }
    }

    @Test func `carries a token that the team's key signed`() async throws {
        let (_, seen) = try await exchange { _, _ in .accept }
        let parts = try #require(seen.pushes.first).token.split(separator: ".")
        try #require(parts.count == 3)
        let header = try JSONDecoder().decode(Header.self, from: try bytes(parts[0]))
        let claims = try JSONDecoder().decode(Claims.self, from: try bytes(parts[1]))
        #expect(header == Header(alg: "ES256", kid: "KEY1234567"))
        #expect(claims == Claims(iss: "TEAM123456", iat: 1_795_000_000))
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: try bytes(parts[2]))
        #expect(pushKey.publicKey.isValidSignature(signature, for: Data("\(parts[0]).\(parts[1])".utf8)))
    }

    @Test func `shares token and connection with all others`() async throws {
        try await PushServer.with(PushServer.always(.accept)) { server in
            let provider = try pushProvider(server)
            try await withThrowingTaskGroup(of: ProviderAnswer.self) { group in
                for _ in 0..<100 { group.addTask { await provider.deliver(try push(within: .seconds(60))) } }
                for try await answer in group { #expect(answer.outcome == .accepted) }
            }
            #expect(server.seen.pushes.count == 100)
            #expect(Set(server.seen.pushes.map(\.token)).count == 1)
            #expect(server.seen.connections == 1)
        }
    }

    @Test func `has one token for a thousand at a time`() async throws {
        let key = try #require(APNsSigningKey(pem: Secret(pushKey.pemRepresentation)))
        let clock = PushClock()
        let tokens = APNsTokenSource(
            APNsConfiguration(name: "p", keyID: "K", teamID: "T", key: key),
            now: { clock.time }
        )
        let texts = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<1000 { group.addTask { try tokens.current() } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(texts.count == 1)
        let old = try #require(texts.first)
        clock.advance(by: .seconds(61))
        let replacements = try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<1000 { group.addTask { try tokens.replacement(for: old) } }
            return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
        }
        #expect(replacements.count == 1)
        #expect(!replacements.contains(old))
        #expect(!replacements.contains(nil))
    }

    @Test func `gets a new token after fifty minutes and not before`() async throws {
        let clock = PushClock()
        try await PushServer.with(PushServer.always(.accept)) { server in
            let provider = try pushProvider(server, clock: clock)
            for step in [0, 2999, 1, 2999, 1] {
                clock.advance(by: .seconds(step))
                _ = await provider.deliver(try push())
            }
            let tokens = server.seen.pushes.map(\.token)
            try #require(tokens.count == 5)
            #expect(tokens[0] == tokens[1])
            #expect(tokens[1] != tokens[2])
            #expect(tokens[2] == tokens[3])
            #expect(tokens[3] != tokens[4])
        }
    }

    @Test func `with a token that Apple calls expired is sent once more with a new one`() async throws {
        let clock = PushClock()
        let script: PushServer.Script = { _, index in index == 1 ? .refuse(403, "ExpiredProviderToken") : .accept }
        try await PushServer.with(script) { server in
            let provider = try pushProvider(server, clock: clock)
            _ = await provider.deliver(try push())
            clock.advance(by: .seconds(300))
            let answer = await provider.deliver(try push())
            #expect(answer.outcome == .accepted)
            let tokens = server.seen.pushes.map(\.token)
            try #require(tokens.count == 3)
            #expect(tokens[0] == tokens[1])
            #expect(tokens[1] != tokens[2])
        }
    }

    @Test func `whose new token is called expired too is a configuration fault and changes no more tokens`()
        async throws
    {
        let clock = PushClock()
        try await PushServer.with(PushServer.always(.refuse(403, "ExpiredProviderToken"))) { server in
            let provider = try pushProvider(server, clock: clock)
            for _ in 0..<5 {
                let answer = await provider.deliver(try push())
                #expect(answer == ProviderAnswer(.misconfigured, errorCode: "ExpiredProviderToken"))
            }
            #expect(server.seen.pushes.count == 5)
            #expect(Set(server.seen.pushes.map(\.token)).count == 1)
        }
    }

    @Test func `goes to the gateway of its environment`() async throws {
        try await PushServer.with(PushServer.always(.accept)) { production in
            try await PushServer.with(PushServer.always(.accept)) { sandbox in
                let provider = try pushProvider(production, sandbox: sandbox)
                _ = await provider.deliver(try push(to: .sandbox))
                #expect(sandbox.seen.pushes.count == 1)
                #expect(production.seen.pushes.isEmpty)
                _ = await provider.deliver(try push(to: .unknown))
                #expect(sandbox.seen.pushes.count == 1)
                #expect(production.seen.pushes.count == 1)
            }
        }
    }

    @Test(arguments: [PushEnvironment.unknown, .production])
    func `is tried at the other gateway once, where its environment is not known`(
        environment: PushEnvironment
    ) async throws {
        try await PushServer.with(PushServer.always(.refuse(400, "BadDeviceToken"))) { production in
            try await PushServer.with(PushServer.always(.accept)) { sandbox in
                let provider = try pushProvider(production, sandbox: sandbox)
                let answer = await provider.deliver(try push(to: environment))
                #expect(production.seen.pushes.count == 1)
                #expect(sandbox.seen.pushes.count == (environment == .unknown ? 1 : 0))
                #expect(answer.outcome == (environment == .unknown ? .accepted : .refused))
            }
        }
    }

    @Test(arguments: ["BadEnvironmentKeyInToken", "BadEnvironmentKeyIdInToken"])
    func `is judged by the gateway that the key is for`(reason: String) async throws {
        let foreign = PushServer.always(.refuse(403, reason))
        try await PushServer.with(PushServer.always(.refuse(400, "BadDeviceToken"))) { production in
            try await PushServer.with(foreign) { sandbox in
                let answer = await (try pushProvider(production, sandbox: sandbox)).deliver(try push(to: .unknown))
                #expect(answer == ProviderAnswer(.refused, errorCode: "BadDeviceToken"))
            }
        }
        try await PushServer.with(foreign) { production in
            try await PushServer.with(PushServer.always(.accept)) { sandbox in
                let answer = await (try pushProvider(production, sandbox: sandbox)).deliver(try push(to: .unknown))
                #expect(answer.outcome == .accepted)
            }
        }
    }

    @Test func `that neither gateway knows is refused`() async throws {
        try await PushServer.with(PushServer.always(.refuse(400, "BadDeviceToken"))) { server in
            let answer = await (try pushProvider(server)).deliver(try push(to: .unknown))
            #expect(answer == ProviderAnswer(.refused, errorCode: "BadDeviceToken"))
            #expect(server.seen.pushes.count == 2)
        }
    }

    @Test func `shows neither key nor token nor secret`() async throws {
        try await PushServer.with(PushServer.always(.accept)) { server in
            let provider = try pushProvider(server)
            _ = await provider.deliver(try push())
            var text = "\(provider) \(try push())"
            dump(provider, to: &text)
            let jwt = try #require(server.seen.pushes.first).token
            for secret in [token, jwt, pushKey.pemRepresentation, pushKey.rawRepresentation.base64EncodedString()] {
                #expect(!text.contains(secret))
            }
        }
    }
}
