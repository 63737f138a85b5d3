// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// A TCP connection with raw bytes, which shows details that a client library would hide.
package final class RawConnection: Sendable {
    /// The reason why reading ended.
    package enum End: Equatable {
        case satisfied
        case closed
        case deadline
    }

    struct Failure: Error {
        let number: Int32
    }

    private let descriptor: Int32
    /// The client's port of the connection, which the server sees as the remote port.
    package let port: Int

    package init(to port: Int) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = Self.loopback(port)
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
        }
        guard connected == 0 else {
            let number = errno
            _ = Glibc.close(descriptor)
            throw Failure(number: number)
        }
        var own = sockaddr_in()
        var ownSize = size
        _ = withUnsafeMutablePointer(to: &own) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &ownSize) }
        }
        self.descriptor = descriptor
        self.port = Int(UInt16(bigEndian: own.sin_port))
    }

    deinit {
        _ = Glibc.close(descriptor)
    }

    package func send(_ text: String) throws {
        try send(Array(text.utf8))
    }

    package func send(_ bytes: [UInt8]) throws {
        let sent = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        guard sent == bytes.count else { throw Failure(number: errno) }
    }

    /// Shuts down both directions; the descriptor stays open while a thread reads from it.
    package func hangUp() {
        _ = shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Reads until the text satisfies the condition, the server closes, the deadline passes or the test is cancelled.
    package func read(
        within limit: Duration = .seconds(120),
        until isEnough: @escaping @Sendable (String) -> Bool = { _ in false }
    ) async -> (text: String, end: End) {
        let cancellation = Cancellation()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let deadline = ContinuousClock.now + limit
                // Uses a separate thread, since blocking calls would starve the pools that run the server.
                let thread = Thread {
                    let isOver = { cancellation.isHere || ContinuousClock.now >= deadline }
                    continuation.resume(returning: self.blockingRead(until: isOver, isEnough))
                }
                thread.start()
            }
        } onCancel: {
            cancellation.come()
        }
    }

    private func blockingRead(
        until isOver: () -> Bool,
        _ isEnough: (String) -> Bool
    ) -> (text: String, end: End) {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let text = String(decoding: bytes, as: UTF8.self)
            if isEnough(text) { return (text, .satisfied) }
            if isOver() { return (text, .deadline) }
            var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&wanted, 1, 20) > 0 else { continue }
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count <= 0 { return (text, .closed) }
            bytes += buffer[..<count]
        }
    }

    /// Passes the cancellation of the test to the reading thread.
    private final class Cancellation: Sendable {
        private let state = Atomic(false)

        var isHere: Bool { state.load(ordering: .relaxed) }

        func come() { state.store(true, ordering: .relaxed) }
    }

    private static func loopback(_ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}
