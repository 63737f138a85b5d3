// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// An HTTP server that keeps the requests it gets, one connection each, and answers all with one status.
final class CallbackReceiver: Sendable {
    struct Received: Sendable {
        /// The lines before the body, in lower case.
        let head: String
        let body: String

        /// The headers by names in lower case.
        var headers: [String: String] = [:]
    }

    let port: Int
    private let descriptor: Int32
    private let state = Mutex<[Received]>([])

    var received: [Received] { state.withLock { $0 } }

    init(answering status: String = "204 No Content") {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        _ = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, size) == 0 && listen(descriptor, 16) == 0
                    && getsockname(descriptor, address, &size) == 0
            }
        }
        port = Int(UInt16(bigEndian: address.sin_port))
        // Uses a separate thread, since blocking calls would starve the pools that run the sandbox.
        Thread { [weak self] in
            while true {
                let client = accept(descriptor, nil, nil)
                guard client >= 0 else { return }
                let request = Self.read(client)
                self?.state.withLock { $0.append(request) }
                let answer = Array("HTTP/1.1 \(status)\r\nconnection: close\r\ncontent-length: 0\r\n\r\n".utf8)
                _ = send(client, answer, answer.count, Int32(MSG_NOSIGNAL))
                _ = Glibc.close(client)
            }
        }.start()
    }

    /// Ends the thread that waits for connections.
    func close() {
        _ = shutdown(descriptor, Int32(SHUT_RDWR))
        _ = Glibc.close(descriptor)
    }

    private static func headers(_ head: String) -> [String: String] {
        let pairs = head.components(separatedBy: "\r\n").dropFirst().compactMap { line in
            line.firstRange(of: ": ").map { (line[..<$0.lowerBound].lowercased(), String(line[$0.upperBound...])) }
        }
        return Dictionary(pairs) { first, _ in first }
    }

    private static func read(_ client: Int32) -> Received {
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let parts = text.components(separatedBy: "\r\n\r\n")
            if parts.count > 1 {
                let head = parts[0].lowercased()
                let length = head.firstMatch(of: /content-length: ([0-9]+)/).flatMap { Int($0.1) } ?? 0
                if parts[1].utf8.count >= length {
                    return Received(head: head, body: parts[1], headers: headers(parts[0]))
                }
            }
            let count = recv(client, &buffer, buffer.count, 0)
            guard count > 0 else { return Received(head: text, body: "") }
            text += String(decoding: buffer[..<count], as: UTF8.self)
        }
    }
}
