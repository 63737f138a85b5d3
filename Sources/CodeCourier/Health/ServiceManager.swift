// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The notification socket of systemd: one datagram a message, with lines of `NAME=value`.
///
/// It implements the protocol of sd_notify(3) without libsystemd.
final class ServiceManager: Sendable {
    private let address: [UInt8]
    private let descriptor: Int32

    /// A failed system call.
    struct Failure: Error, CustomStringConvertible {
        let code: Int32

        var description: String { String(cString: strerror(code)) }
    }

    /// The manager at `NOTIFY_SOCKET`, a path or, with a leading `@`, an abstract name; nil without the variable.
    convenience init?(environment: [String: String]) {
        guard let name = environment["NOTIFY_SOCKET"], !name.isEmpty else { return nil }
        self.init(socket: name)
    }

    private init?(socket name: String) {
        var bytes = Array(name.utf8)
        switch bytes.first {
        case UInt8(ascii: "/"): bytes.append(0)
        case UInt8(ascii: "@"): bytes[0] = 0
        default: return nil
        }
        guard bytes.count <= MemoryLayout.size(ofValue: sockaddr_un().sun_path) else { return nil }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        address = bytes
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Sends one message without blocking, even if the manager does not read.
    func send(_ lines: [String]) throws(Failure) {
        guard !lines.isEmpty else { return }
        let message = Array(lines.joined(separator: "\n").utf8)
        var target = sockaddr_un()
        target.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &target.sun_path) { $0.copyBytes(from: address) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + address.count)
        let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
        let sent = withUnsafePointer(to: &target) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                message.withUnsafeBytes { sendto(descriptor, $0.baseAddress, $0.count, flags, address, length) }
            }
        }
        guard sent == message.count else { throw Failure(code: errno) }
    }
}
