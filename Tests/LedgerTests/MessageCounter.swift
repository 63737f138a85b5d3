// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Synchronization

@testable import PostgresClient

/// A TCP proxy before the test server that counts what one client asks for: statements and round trips.
///
/// A message of the protocol after the first is one byte of type, four of length, which they count in, and the rest. An
/// `E` (Execute) runs a statement, and an `S` (Sync) asks for the answers: one round trip. One that runs nothing prepares
/// statements, once a session, and is not counted.
final class MessageCounter: Sendable {
    struct Count: Equatable, CustomStringConvertible {
        var statements = 0
        var roundTrips = 0
        fileprivate var hasExecuted = false

        var description: String { "\(statements) statements in \(roundTrips) round trips" }
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let listener: Int32
    private let port: UInt16
    private let target: sockaddr_in
    private let isStopped = Atomic(false)
    private let count = Mutex(Count())

    private init(to url: String) throws {
        let keywords = try ConnectionKeywords.parse(url)
        let host = keywords["host"].map { $0 == "localhost" ? "127.0.0.1" : $0 } ?? "127.0.0.1"
        var target = Self.loopback(port: keywords["port"].flatMap { UInt16($0) } ?? 5432)
        guard inet_pton(AF_INET, host, &target.sin_addr) == 1 else {
            throw Failure(description: "COURIER_TEST_POSTGRES_URL must name an IPv4 address for this test")
        }
        self.target = target
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = Self.loopback(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && listen(descriptor, 4) == 0
                    && getsockname(descriptor, address, &length) == 0
            }
        }
        listener = descriptor
        port = UInt16(bigEndian: address.sin_port)
        if !isListening { throw Failure(description: "no port to listen on") }
    }

    deinit {
        close(listener)
    }

    /// What leads a URI to the proxy, in clear text.
    var parameters: String { "host=127.0.0.1&port=\(port)&sslmode=disable&gssencmode=disable" }

    /// Lends a proxy that serves, on a thread of its own, one connection at a time.
    static func with<Result>(_ url: String, _ body: (MessageCounter) async throws -> Result) async throws -> Result {
        let counter = try MessageCounter(to: url)
        DispatchQueue(label: "message-counter").async { counter.serve() }
        defer { counter.isStopped.store(true, ordering: .relaxed) }
        return try await body(counter)
    }

    /// What a piece of work asks the server for.
    func measure(_ work: () async throws -> Void) async throws -> Count {
        let before = count.withLock { $0 }
        try await work()
        let after = count.withLock { $0 }
        return Count(
            statements: after.statements - before.statements,
            roundTrips: after.roundTrips - before.roundTrips
        )
    }

    private func serve() {
        while !isStopped.load(ordering: .relaxed) {
            guard Self.readable([listener]).contains(listener) else { continue }
            let client = accept(listener, nil, nil)
            let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var target = target
            let isConnected = withUnsafePointer(to: &target) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    connect(server, address, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            if isConnected { pump(client, server) }
            close(client)
            close(server)
        }
    }

    private func pump(_ client: Int32, _ server: Int32) {
        var reader = MessageReader()
        while !isStopped.load(ordering: .relaxed) {
            for source in Self.readable([client, server]) {
                guard let bytes = Self.receive(source) else { return }
                if source == client {
                    // Counted before the server can answer.
                    reader.read(bytes) { type in count.withLock { $0.add(type) } }
                }
                guard Self.transmit(bytes, to: source == client ? server : client) else { return }
            }
        }
    }

    private static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }

    /// The descriptors that can be read, after at most 20 ms.
    private static func readable(_ descriptors: [Int32]) -> [Int32] {
        var entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        poll(&entries, nfds_t(entries.count), 20)
        return entries.filter { $0.revents != 0 }.map(\.fd)
    }

    private static func receive(_ descriptor: Int32) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? Array(buffer.prefix(count)) : nil
    }

    private static func transmit(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count <= 0 { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}

extension MessageCounter.Count {
    fileprivate mutating func add(_ type: UInt8) {
        switch type {
        case UInt8(ascii: "E"):
            statements += 1
            hasExecuted = true
        case UInt8(ascii: "S"):
            if hasExecuted { roundTrips += 1 }
            hasExecuted = false
        default: break
        }
    }
}

/// Finds the messages in what a client sends, whose reads may end anywhere.
private struct MessageReader {
    /// Bytes of the head of the message that is being read; the connection's first message has no type.
    private var head: [UInt8] = [0]
    private var remaining = 0

    mutating func read(_ bytes: [UInt8], _ found: (UInt8) -> Void) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let skipped = min(remaining, rest.count)
            rest = rest.dropFirst(skipped)
            remaining -= skipped
            guard remaining == 0, let next = rest.popFirst() else { continue }
            head.append(next)
            guard head.count == 5 else { continue }
            found(head[0])
            remaining = max(0, head.dropFirst().reduce(0) { $0 << 8 | Int($1) } - 4)
            head = []
        }
    }
}
