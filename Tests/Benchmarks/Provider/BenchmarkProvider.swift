// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore
import NIOPosix

/// A provider with Twilio's way of speaking that takes every message at once and remembers when it came.
///
/// It reads no more of HTTP than it needs, so that it takes little of the machine that it shares with what is measured.
enum BenchmarkProvider {
    /// Prints the port once it listens, and serves until it is killed.
    static func run() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let arrivals = NIOLoopBoundBox.makeBoxSendingValue(Arrivals(), eventLoop: group.next())
        let listener = try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 4096)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(RequestHandler(arrivals.value))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        print(listener.localAddress?.port ?? 0)
        fflush(nil)
        try await listener.closeFuture.get()
    }
}

/// The number and the moment of each message, in microseconds since 1970; used on the one event loop.
private final class Arrivals {
    var lines = ""
    var count = 0
}

private final class RequestHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var pending = ByteBuffer()
    private let arrivals: Arrivals

    init(_ arrivals: Arrivals) {
        self.arrivals = arrivals
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        pending.writeBuffer(&bytes)
        while let length = pending.readableBytesView.requestLength, let request = pending.readSlice(length: length) {
            context.write(wrapOutboundOut(reply(to: request.readableBytesView)), promise: nil)
        }
        context.flush()
        pending.discardReadBytes()
    }

    private func reply(to request: ByteBufferView) -> ByteBuffer {
        if request.starts(with: "GET /arrivals".utf8) {
            defer { arrivals.lines = "" }
            return Self.response("200 OK", arrivals.lines)
        }
        arrivals.count += 1
        if let digits = request.digits(after: Self.recipient) { arrivals.lines += "\(digits) \(Self.now())\n" }
        let sid = String(arrivals.count, radix: 16)
        let padded = "SM" + String(repeating: "0", count: max(0, 32 - sid.count)) + sid
        return Self.response("201 Created", #"{"sid":"\#(padded)","status":"queued","num_segments":"1"}"#)
    }

    private static func response(_ status: String, _ body: String) -> ByteBuffer {
        let head = "HTTP/1.1 \(status)\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
        return ByteBuffer(string: head + body)
    }

    private static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }

    private static let recipient = Array("To=%2B".utf8)
}

extension ByteBufferView {
    /// The length of the first whole request; nil while it has not come.
    fileprivate var requestLength: Int? {
        guard let head = offset(of: Self.headEnd) else { return nil }
        let body = digits(after: Self.contentLength).flatMap { Int($0) } ?? 0
        let length = head + Self.headEnd.count + body
        return length <= count ? length : nil
    }

    fileprivate func digits(after words: [UInt8]) -> String? {
        guard let offset = offset(of: words) else { return nil }
        let rest = dropFirst(offset + words.count)
        return String(decoding: rest.prefix { (0x30...0x39).contains($0) }, as: UTF8.self)
    }

    /// Where some bytes stand; ASCII letters count whatever their case.
    private func offset(of words: [UInt8]) -> Int? {
        withUnsafeBytes { bytes in
            guard bytes.count >= words.count else { return nil }
            return (0...(bytes.count - words.count)).first { start in
                words.indices.allSatisfy { Self.folded(bytes[start + $0]) == Self.folded(words[$0]) }
            }
        }
    }

    private static func folded(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    private static let headEnd = Array("\r\n\r\n".utf8)
    private static let contentLength = Array("content-length: ".utf8)
}
