// SPDX-License-Identifier: Apache-2.0

import CEpoll
import Glibc

/// A provider with Twilio's API that accepts every message at once and records its arrival.
///
/// It is a single loop of system calls that parses as little HTTP as possible, since it shares the machine with the
/// worker that is measured.
struct BenchmarkProvider {
    private let listener: Int32
    private let poll: Int32
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)

    /// Bytes of incomplete requests, by connection.
    private var beginnings: [Int32: [UInt8]] = [:]
    private var arrivals: [(number: Int, time: Int64)] = []
    private var count = 0

    /// Prints the port once it listens, and serves until it is killed.
    static func run() throws {
        var provider = try BenchmarkProvider()
        try provider.serve()
    }

    private init() throws {
        listener = try Self.check(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        try withUnsafeMutablePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { place in
                _ = try Self.check(bind(listener, place, length))
                _ = try Self.check(listen(listener, 4096))
                _ = try Self.check(getsockname(listener, place, &length))
            }
        }
        poll = try Self.check(epoll_create1(0))
        try watch(listener)
        print(UInt16(bigEndian: address.sin_port))
        fflush(nil)
    }

    private mutating func serve() throws {
        var events = [epoll_event](repeating: epoll_event(), count: 256)
        while true {
            let ready = epoll_wait(poll, &events, Int32(events.count), -1)
            if ready < 0, errno == EINTR { continue }
            for event in events.prefix(Int(try Self.check(ready))) {
                if event.data.fd == listener { try accept() } else { read(from: event.data.fd) }
            }
        }
    }

    private func accept() throws {
        let connection = try Self.check(Glibc.accept(listener, nil, nil))
        var on: Int32 = 1
        setsockopt(connection, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        try watch(connection)
    }

    private func watch(_ socket: Int32) throws {
        var event = epoll_event()
        event.events = EPOLLIN.rawValue
        event.data.fd = socket
        _ = try Self.check(epoll_ctl(poll, EPOLL_CTL_ADD, socket, &event))
    }

    private mutating func read(from connection: Int32) {
        let size = Glibc.read(connection, &buffer, buffer.count)
        guard size > 0 else {
            beginnings[connection] = nil
            close(connection)
            return
        }
        var bytes = buffer[..<size]
        if let beginning = beginnings.removeValue(forKey: connection) { bytes = (beginning + bytes)[...] }
        while let length = bytes.withUnsafeBytes(\.requestLength) {
            let end = bytes.startIndex + length
            let answer = bytes[..<end].withUnsafeBytes { reply(to: $0) }
            // The blocking socket sends all bytes; if the peer has closed, the next read ends the connection.
            answer.withUnsafeBytes { _ = send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            bytes = bytes[end...]
        }
        if !bytes.isEmpty { beginnings[connection] = Array(bytes) }
    }

    private mutating func reply(to request: UnsafeRawBufferPointer) -> [UInt8] {
        if request.offset(of: Self.arrivalsPath) == 0 {
            defer { arrivals = [] }
            let lines = arrivals.reduce(into: "") { $0 += "\($1.number) \($1.time)\n" }
            return Array((Self.head("200 OK", length: lines.utf8.count) + lines).utf8)
        }
        count += 1
        if let number = request.number(after: Self.recipient) { arrivals.append((number, Self.now())) }
        var reply = Self.accepted
        var rest = count
        for digit in 1...16 {
            reply[Self.idEnd - digit] = Self.digits[rest % 16]
            rest /= 16
        }
        return reply
    }

    private static func head(_ status: String, length: Int) -> String {
        "HTTP/1.1 \(status)\r\nContent-Type: application/json\r\nContent-Length: \(length)\r\n\r\n"
    }

    private static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }

    private static func check(_ result: Int32) throws -> Int32 {
        guard result >= 0 else { throw SystemFailure(number: errno) }
        return result
    }

    /// The error of a failed system call; errno(3) explains the number.
    private struct SystemFailure: Error {
        let number: Int32
    }

    /// The answer to every message, except for the number in its id.
    private static let accepted: [UInt8] = {
        let body = #"{"sid":"SM\#(String(repeating: "0", count: 32))","status":"queued","num_segments":"1"}"#
        return Array((head("201 Created", length: body.utf8.count) + body).utf8)
    }()

    private static let idEnd: Int = {
        let start = Array(#"{"sid":"SM"#.utf8)
        return (accepted.withUnsafeBytes { $0.offset(of: start) } ?? 0) + start.count + 32
    }()

    private static let digits = Array("0123456789abcdef".utf8)
    private static let arrivalsPath = Array("GET /arrivals".utf8)
    private static let recipient = Array("To=%2B".utf8)
}

extension UnsafeRawBufferPointer {
    /// The length of the first complete request; nil while it is incomplete.
    fileprivate var requestLength: Int? {
        guard let head = offset(of: Self.headEnd) else { return nil }
        let fields = UnsafeRawBufferPointer(rebasing: self[..<head])
        let body = Self.contentLength.lazy.compactMap { fields.number(after: $0) }.first ?? 0
        let length = head + Self.headEnd.count + body
        return length <= count ? length : nil
    }

    fileprivate func number(after words: [UInt8]) -> Int? {
        guard let offset = offset(of: words) else { return nil }
        return self[(offset + words.count)...].prefix { (0x30...0x39).contains($0) }.reduce(0) {
            $0 &* 10 &+ Int($1 & 0xf)
        }
    }

    fileprivate func offset(of words: [UInt8]) -> Int? {
        guard let start = baseAddress else { return nil }
        var place = 0
        while place + words.count <= count, let found = memchr(start + place, Int32(words[0]), count - place) {
            place = start.distance(to: UnsafeRawPointer(found))
            if place + words.count <= count, memcmp(found, words, words.count) == 0 { return place }
            place += 1
        }
        return nil
    }

    private static let headEnd = Array("\r\n\r\n".utf8)

    /// The two spellings that clients use.
    private static let contentLength = ["Content-Length: ", "content-length: "].map { Array($0.utf8) }
}
