// SPDX-License-Identifier: Apache-2.0

import Glibc
import PinnedThread
import Synchronization

@testable import PostgresClient

/// A TCP proxy before the test server, which does harm to the first connection on which a text passes.
actor CuttingProxy {
    enum Fault {
        /// The server gets the text, its answer is lost with the connection.
        case swallowAnswer
        /// The connection ends before the server gets the text.
        case swallowRequest
        /// Nothing passes any more, and both connections stay open.
        case fallSilent
    }

    struct Failure: Error {}

    private let thread = PinnedThread()
    private let target: [String: String]
    private let needle: [UInt8]
    private let fault: Fault
    private let listener: Int32
    private let port: UInt16
    private let isStopped = Atomic(false)

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(to url: String, at needle: String, _ fault: Fault) throws {
        target = try ConnectionKeywords.parse(url)
        self.needle = Array(needle.utf8)
        self.fault = fault
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        listener = descriptor
        var address = Self.loopback(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && listen(descriptor, 8) == 0
                    && getsockname(descriptor, address, &length) == 0
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        if !isListening { throw Failure() }
    }

    deinit {
        close(listener)
    }

    /// What leads a URI to the proxy, in clear text.
    nonisolated var parameters: String { "host=127.0.0.1&port=\(port)&sslmode=disable&gssencmode=disable" }

    nonisolated func stop() {
        isStopped.store(true, ordering: .relaxed)
    }

    /// Serves one connection after another until it is stopped.
    func serve() {
        while !isStopped.load(ordering: .relaxed) {
            guard Self.readable([listener]).contains(listener) else { continue }
            let client = accept(listener, nil, nil)
            let server = connectToTarget()
            pump(client, server)
            close(client)
            close(server)
        }
    }

    private func pump(_ client: Int32, _ server: Int32) {
        while !isStopped.load(ordering: .relaxed) {
            for source in Self.readable([client, server]) {
                guard let bytes = Self.receive(source) else { return }
                guard source == client, Self.contains(bytes, needle) else {
                    guard Self.transmit(bytes, to: source == client ? server : client) else { return }
                    continue
                }
                switch fault {
                case .swallowRequest: return
                case .swallowAnswer:
                    _ = Self.transmit(bytes, to: server)
                    while !isStopped.load(ordering: .relaxed), Self.readable([server]).isEmpty {}
                    return
                case .fallSilent:
                    while !isStopped.load(ordering: .relaxed) { _ = Self.readable([]) }
                }
            }
        }
    }

    private func connectToTarget() -> Int32 {
        let port = target["port"] ?? "5432"
        let host = target["host"] ?? "/var/run/postgresql"
        guard host.hasPrefix("/") else {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = Self.loopback(port: UInt16(port) ?? 5432)
            if host != "localhost" { inet_pton(AF_INET, host, &address.sin_addr) }
            Self.connect(descriptor, &address)
            return descriptor
        }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) {
            $0.copyBytes(from: "\(host)/.s.PGSQL.\(port)".utf8.prefix(107))
        }
        Self.connect(descriptor, &address)
        return descriptor
    }

    private static func connect<Address>(_ descriptor: Int32, _ address: inout Address) {
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                _ = Glibc.connect(descriptor, address, socklen_t(MemoryLayout<Address>.size))
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
            let count = rest.withUnsafeBytes {
                send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private static func contains(_ bytes: [UInt8], _ needle: [UInt8]) -> Bool {
        bytes.indices.contains { bytes[$0...].starts(with: needle) }
    }
}
