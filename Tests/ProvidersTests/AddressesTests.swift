// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix
import TestTools
import Testing
import Verification

@testable import Providers

/// Tests host names with several addresses, each of which gets its own connection attempt.
@Suite(.serialized, .timeLimit(.minutes(1))) struct `A provider with two addresses` {
    /// Sends two messages in sequence to a server at the second address.
    private func sendTwice(_ first: SocketAddress, then server: ScriptedServer) async throws -> [ProviderAnswer] {
        let addresses = [first, try SocketAddress(ipAddress: "127.0.0.1", port: server.port)]
        let client = ProviderClient(maximumConnections: 8, resolver: FixedAddresses(addresses: addresses))
        let provider = try ModuleSample.twilio.make("http://sms.example", client)
        let answers = [await provider.send(try message()), await provider.send(try message())]
        await client.shutdown()
        return answers
    }

    private func expectOneConnection(_ answers: [ProviderAnswer], _ server: ScriptedServer) async throws {
        #expect(answers.map(\.outcome) == [.accepted, .accepted])
        #expect(server.seen.requests.count == 2)
        #expect(server.seen.connections == 1)
        try await eventually("the connection is closed") { server.seen.closedConnections == 1 }
    }

    @Test func `is reached by the second when the first refuses`() async throws {
        try await ScriptedServer.with([created]) { server in
            let first = try SocketAddress(ipAddress: "127.0.0.2", port: server.port)
            try await expectOneConnection(try await sendTwice(first, then: server), server)
        }
    }

    @Test func `is reached by the second when there is no way to the first`() async throws {
        try await ScriptedServer.with([created]) { server in
            // The kernel refuses a TCP connection to a multicast group at once, as for an address without a route.
            let first = try SocketAddress(ipAddress: "ff02::1", port: server.port)
            try await expectOneConnection(try await sendTwice(first, then: server), server)
        }
    }

    @Test func `is reached by the second when the first says nothing`() async throws {
        try await withBlackHole { port, _ in
            try await ScriptedServer.with([created]) { server in
                let first = try SocketAddress(ipAddress: "127.0.0.1", port: port)
                try await expectOneConnection(try await sendTwice(first, then: server), server)
            }
        }
    }
}

/// Resolves every name to these addresses, in this order.
private struct FixedAddresses: Resolver, Sendable {
    let addresses: [SocketAddress]

    func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        MultiThreadedEventLoopGroup.singleton.any().makeSucceededFuture(addresses)
    }

    func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        MultiThreadedEventLoopGroup.singleton.any().makeSucceededFuture([])
    }

    func cancelQueries() {}
}
