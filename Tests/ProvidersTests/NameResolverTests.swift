// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import TestTools
import Testing
import Verification

@testable import Providers

@Suite(.serialized, .timeLimit(.minutes(1))) struct `The names of providers` {
    private static let loop = MultiThreadedEventLoopGroup.singleton.any()

    @Test func `that are slow to be found delay no others, and are found for the next connection`() async throws {
        try await ScriptedServer.with([created]) { server in
            let names = ScriptedNames([try SocketAddress(ipAddress: "127.0.0.1", port: server.port)])
            defer { names.release() }
            let resolver = NameResolver(loop: Self.loop, lookup: names.find)
            let client = ProviderClient(maximumConnections: 8, resolver: resolver)
            let slow = try ModuleSample.twilio.make("http://slow.example", client)
            let fast = try ModuleSample.twilio.make("http://fast.example", client)

            async let first = slow.send(try message())
            try await eventually("the slow name is looked up") { names.lookups["slow.example"] == 1 }
            #expect(await fast.send(try message()).outcome == .accepted)
            #expect(try await first == ProviderAnswer(.notSent, errorCode: "connect_timeout"))

            names.release()
            #expect(await slow.send(try message()).outcome == .accepted)
            #expect(names.lookups == ["slow.example": 1, "fast.example": 1])
            await client.shutdown()
        }
    }

    @Test func `are looked up once at a time, and not again while the answer is fresh`() async throws {
        let addresses = [
            try SocketAddress(ipAddress: "192.0.2.1", port: 80), try SocketAddress(ipAddress: "2001:db8::1", port: 80),
        ]
        let names = ScriptedNames(addresses)
        defer { names.release() }
        let resolver = NameResolver(loop: Self.loop, lookup: names.find)
        let answers = (0..<5).map { _ in
            (
                resolver.initiateAAAAQuery(host: "slow.example", port: 80),
                resolver.initiateAQuery(host: "slow.example", port: 80)
            )
        }
        names.release()
        for (newer, older) in answers {
            #expect(try await newer.get() == [addresses[1]])
            #expect(try await older.get() == [addresses[0]])
        }
        #expect(try await resolver.initiateAQuery(host: "slow.example", port: 80).get() == [addresses[0]])
        #expect(names.lookups == ["slow.example": 1])
    }

    @Test func `have their last addresses until there are newer ones`() async throws {
        let old = try SocketAddress(ipAddress: "192.0.2.1", port: 80)
        let new = try SocketAddress(ipAddress: "192.0.2.2", port: 80)
        let lookups = NIOLockedValueBox(0)
        let isReleased = ConditionLock(value: false)
        let resolver = NameResolver(loop: Self.loop, freshness: .zero) { _, _ in
            let count = lookups.withLockedValue { count in
                count += 1
                return count
            }
            switch count {
            case 1: return [old]
            case 2:
                isReleased.lock(whenValue: true)
                isReleased.unlock()
                throw NameResolver.NotFound()
            default: return [new]
            }
        }
        func addresses() async throws -> [SocketAddress] {
            try await resolver.initiateAQuery(host: "sms.example", port: 80).get()
        }

        #expect(try await addresses() == [old])
        // The second lookup has no answer yet.
        for _ in 0..<3 { #expect(try await addresses() == [old]) }
        try await eventually("the second lookup has begun") { lookups.withLockedValue { $0 } == 2 }
        isReleased.lock()
        isReleased.unlock(withValue: true)
        // A failed lookup does not invalidate the known addresses.
        try await eventually("the third lookup has answered") {
            let known = try await addresses()
            #expect(known == [old] || known == [new])
            return known == [new]
        }
    }

    @Test func `that are addresses need no lookup`() async throws {
        let names = ScriptedNames([])
        let resolver = NameResolver(loop: Self.loop, lookup: names.find)
        for (host, isOlder) in [("192.0.2.1", true), ("2001:db8::1", false)] {
            let address = try SocketAddress(ipAddress: host, port: 443)
            let older = try await resolver.initiateAQuery(host: host, port: 443).get()
            let newer = try await resolver.initiateAAAAQuery(host: host, port: 443).get()
            #expect(older == (isOlder ? [address] : []))
            #expect(newer == (isOlder ? [] : [address]))
        }
        #expect(names.lookups.isEmpty)
    }

    @Test func `are found by the system`() throws {
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: 8025)
        #expect(try NameResolver.resolveBySystem(host: "localhost", port: 8025).contains(address))
    }
}

/// Resolves every name to the same addresses; a lookup of `slow.example` blocks until it is released.
private final class ScriptedNames: Sendable {
    private let addresses: [SocketAddress]
    private let counts = NIOLockedValueBox<[String: Int]>([:])
    private let isReleased = ConditionLock(value: false)

    init(_ addresses: [SocketAddress]) {
        self.addresses = addresses
    }

    var lookups: [String: Int] { counts.withLockedValue { $0 } }

    func release() {
        isReleased.lock()
        isReleased.unlock(withValue: true)
    }

    @Sendable func find(_ host: String, _ port: Int) throws -> [SocketAddress] {
        counts.withLockedValue { $0[host, default: 0] += 1 }
        if host == "slow.example" {
            isReleased.lock(whenValue: true)
            isReleased.unlock()
        }
        return addresses
    }
}
