// SPDX-License-Identifier: Apache-2.0

import Testing
import Verification

@testable import Providers

@Suite struct `Amazon SNS as moto plays it` {
    @Test func `takes what is signed with the right key, and nothing else`() async throws {
        try await MotoServer.with { server in
            let session = server.accessKey
            // The text has no `~` and no `*`, since moto encodes these differently when it checks the signature.
            let taken = try await send("код 654321 & +=%\"\n", with: session, to: server)
            #expect(taken.outcome == .accepted)
            let id = try #require(taken.messageID)
            let contents = try await server.contents()
            #expect(contents.contains(id))
            #expect(contents.contains("+16505550123"))

            let forged = AccessKey(id: session.id, secret: Secret(token))
            let refused = try await send("654321", with: forged, to: server)
            #expect(refused == ProviderAnswer(.misconfigured, errorCode: "SignatureDoesNotMatch"))
            let stranger = AccessKey(id: "AKIASTRANGER", secret: session.secret)
            let unknown = try await send("654321", with: stranger, to: server)
            #expect(unknown == ProviderAnswer(.misconfigured, errorCode: "InvalidClientTokenId"))

            let long = try await send(String(repeating: "a", count: 1601), with: session, to: server)
            #expect(long == ProviderAnswer(.refused, errorCode: "InvalidParameter"))
        }
    }

    private func send(_ text: String, with accessKey: AccessKey, to server: MotoServer) async throws -> ProviderAnswer {
        let kind = ModuleSample.sns.changing { (configuration: inout SNSConfiguration) in
            configuration.accessKey = accessKey
            configuration.senderID = "Acme"
            configuration.maxPrice = "0.25"
        }
        return try await kind.with(baseURL: server.url) { await $0.send(try message(text: text, within: .seconds(30))) }
    }
}
