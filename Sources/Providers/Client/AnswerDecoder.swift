// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1

/// Reads answers of HTTP/1.1 as gateways write them, and not only as RFC 9112 wants them written.
///
/// Lines may end with LF alone, a field may be folded over several lines, a length may be stated twice if it is the same,
/// and a line of the head that is no field is left out: a message that was taken must not count as lost for a flaw of
/// its answer. Once a status is known, the head is passed on before any fault. What follows an answer and begins no other
/// one is a fault at once, so that the connection ends before it has another call.
struct AnswerDecoder: ByteToMessageDecoder {
    typealias InboundOut = HTTPClientResponsePart

    private enum State {
        /// Before the status line.
        case start
        case fields(Head)
        case sized(left: Int)
        case chunkSize
        case chunk(left: Int)
        case chunkEnd
        case trailers
        case untilEnd
    }

    fileprivate struct Head {
        let version: HTTPVersion
        let status: Int
        var fields: [(name: String, value: String)] = []
        var size = 0
    }

    /// The most that a head, or a line, may be.
    private static let longestHead = 64 * 1024

    private var state = State.start

    mutating func decode(context: ChannelHandlerContext, buffer: inout ByteBuffer) throws -> DecodingState {
        switch state {
        case .start:
            guard Self.mayBegin(buffer) else { throw HTTPParserError.invalidVersion }
            guard let line = try line(&buffer) else { return .needMoreData }
            // Empty lines before an answer are ignored (RFC 9112, section 2.2).
            if !line.isEmpty { state = .fields(try Self.head(line)) }
        case .fields(let head):
            return try readField(head, context, &buffer)
        case .sized(let left), .chunk(let left):
            guard let part = buffer.readSlice(length: min(left, buffer.readableBytes)), part.readableBytes > 0 else {
                return .needMoreData
            }
            context.fireChannelRead(wrapInboundOut(.body(part)))
            advance(to: left - part.readableBytes, context)
        case .chunkSize:
            guard let line = try line(&buffer) else { return .needMoreData }
            let size = line.prefix { $0 != ";" }.trimmed
            guard let length = Int(size, radix: 16), length >= 0 else { throw HTTPParserError.invalidChunkSize }
            state = length == 0 ? .trailers : .chunk(left: length)
        case .chunkEnd:
            guard let line = try line(&buffer) else { return .needMoreData }
            guard line.isEmpty else { throw HTTPParserError.invalidChunkSize }
            state = .chunkSize
        case .trailers:
            guard let line = try line(&buffer) else { return .needMoreData }
            if line.isEmpty { finish(context) }
        case .untilEnd:
            guard let part = buffer.readSlice(length: buffer.readableBytes), part.readableBytes > 0 else {
                return .needMoreData
            }
            context.fireChannelRead(wrapInboundOut(.body(part)))
        }
        return .continue
    }

    mutating func decodeLast(
        context: ChannelHandlerContext,
        buffer: inout ByteBuffer,
        seenEOF: Bool
    ) throws -> DecodingState {
        while case .continue = try decode(context: context, buffer: &buffer) {}
        switch state {
        case .start where buffer.readableBytes == 0: break
        // The last chunk has come, and only what nobody reads is missing.
        case .untilEnd, .trailers: finish(context)
        case .fields(let head):
            pass(head, context)
            throw HTTPParserError.invalidEOFState
        default: throw HTTPParserError.invalidEOFState
        }
        return .needMoreData
    }

    // MARK: - The head

    private mutating func readField(
        _ head: Head,
        _ context: ChannelHandlerContext,
        _ buffer: inout ByteBuffer
    ) throws -> DecodingState {
        var head = head
        let before = buffer.readableBytes
        guard let line = try line(&buffer) else { return .needMoreData }
        guard !line.isEmpty else {
            try end(head, context)
            return .continue
        }
        head.size += before - buffer.readableBytes
        guard head.size <= Self.longestHead else {
            pass(head, context)
            throw HTTPParserError.headerOverflow
        }
        if let last = head.fields.indices.last, line.first == " " || line.first == "\t" {
            head.fields[last].value += " \(line.trimmed)"
        } else if let colon = line.firstIndex(of: ":"), !line[..<colon].trimmed.isEmpty {
            head.fields.append((String(line[..<colon].trimmed), String(line[line.index(after: colon)...].trimmed)))
        }
        state = .fields(head)
        return .continue
    }

    /// The head is whole: what follows it, by RFC 9112, section 6.3.
    private mutating func end(_ head: Head, _ context: ChannelHandlerContext) throws {
        if (100...199).contains(head.status), head.status != 101 {
            state = .start
            return
        }
        let isBodiless = [101, 204, 304].contains(head.status)
        var head = head
        // A body in spite of that would be read as the next answer.
        if isBodiless, head.announcesBody { head.fields.insert(("Connection", "close"), at: 0) }
        pass(head, context)
        let codings = head.values("transfer-encoding").map { $0.lowercased() }
        let lengths = Set(head.values("content-length").map { Int($0) })
        if isBodiless {
            finish(context)
        } else if codings.last == "chunked" {
            state = .chunkSize
        } else if !codings.isEmpty, codings != ["identity"] {
            state = .untilEnd
        } else if let length = lengths.first {
            guard lengths.count == 1, let length, length >= 0 else { throw HTTPParserError.invalidContentLength }
            state = .sized(left: length)
            if length == 0 { finish(context) }
        } else {
            state = .untilEnd
        }
    }

    private func pass(_ head: Head, _ context: ChannelHandlerContext) {
        let head = HTTPResponseHead(
            version: head.version,
            status: HTTPResponseStatus(statusCode: head.status),
            headers: HTTPHeaders(head.fields.map { ($0.name, $0.value) })
        )
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    /// Whether what has come may be empty lines and the beginning of an answer.
    private static func mayBegin(_ buffer: ByteBuffer) -> Bool {
        let start = buffer.readableBytesView.drop { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }
        return zip(start, protocolName).allSatisfy { $0 | 0x20 == $1 }
    }

    private static let protocolName = Array("http".utf8)

    /// Reads `HTTP/1.1 200` and whatever follows it; any other version than 1.1 is read as 1.0, which keeps nothing open.
    private static func head(_ line: String) throws -> Head {
        let words = line.split(maxSplits: 2) { $0 == " " || $0 == "\t" }
        guard words.count >= 2, words[0].lowercased().hasPrefix("http") else { throw HTTPParserError.invalidVersion }
        let digits = words[1].utf8.prefix { (0x30...0x39).contains($0) }
        guard digits.count == 3, let status = Int(words[1].prefix(3)), status >= 100 else {
            throw HTTPParserError.invalidStatus
        }
        let isNewest = words[0].lowercased() == "http/1.1"
        return Head(version: HTTPVersion(major: 1, minor: isNewest ? 1 : 0), status: status)
    }

    // MARK: - The body

    private mutating func advance(to left: Int, _ context: ChannelHandlerContext) {
        switch state {
        case .sized where left == 0: finish(context)
        case .sized: state = .sized(left: left)
        default: state = left == 0 ? .chunkEnd : .chunk(left: left)
        }
    }

    private mutating func finish(_ context: ChannelHandlerContext) {
        state = .start
        context.fireChannelRead(wrapInboundOut(.end(nil)))
    }

    /// The next line without its end; nil when it has not come whole.
    private func line(_ buffer: inout ByteBuffer) throws -> String? {
        let view = buffer.readableBytesView
        guard let end = view.firstIndex(of: UInt8(ascii: "\n")) else {
            if view.count > Self.longestHead { throw HTTPParserError.headerOverflow }
            return nil
        }
        var line = view[..<end]
        if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
        let text = String(decoding: line, as: UTF8.self)
        buffer.moveReaderIndex(forwardBy: end - view.startIndex + 1)
        return text
    }
}

extension AnswerDecoder.Head {
    /// Whether its fields promise a body of any length.
    fileprivate var announcesBody: Bool {
        !values("transfer-encoding").isEmpty || values("content-length").contains { Int($0) != 0 }
    }

    /// The values of a field, those between commas one by one.
    fileprivate func values(_ name: String) -> [Substring] {
        fields.filter { $0.name.lowercased() == name }
            .flatMap { $0.value.split(separator: ",").map(\.trimmed) }
    }
}

extension StringProtocol {
    /// Without the blanks at both ends.
    fileprivate var trimmed: SubSequence {
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        guard let first = firstIndex(where: { !isBlank($0) }), let last = lastIndex(where: { !isBlank($0) }) else {
            return self[endIndex...]
        }
        return self[first...last]
    }
}
