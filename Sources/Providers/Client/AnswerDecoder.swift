// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1

/// Decodes HTTP/1.1 responses leniently, as gateways send them, beyond the grammar of RFC 9112.
///
/// Lines may end with LF alone, a field may be folded over several lines, a length may be repeated with the same value,
/// and a line of the head that is no field is skipped: an accepted message must not count as lost because its answer is
/// malformed. Once a status is known, the head is passed on before any error. Bytes after an answer that cannot begin
/// another one are an error at once, so that the connection closes before its next call.
struct AnswerDecoder: ByteToMessageDecoder {
    typealias InboundOut = HTTPClientResponsePart

    private enum State {
        /// Before the status line.
        case start
        case fields
        case sized(left: Int)
        case chunkSize
        case chunk(left: Int)
        case chunkEnd
        case trailers
        case untilEnd
    }

    private struct Head {
        var version = HTTPVersion.http1_0
        var status = 0
        var fields: [(name: String, value: String)] = []
        var size = 0
    }

    /// The maximum size of a head or a line, in bytes.
    private static let longestHead = 64 * 1024

    private var state = State.start

    /// The head as far as it has been received.
    private var head = Head()

    mutating func decode(context: ChannelHandlerContext, buffer: inout ByteBuffer) throws -> DecodingState {
        switch state {
        case .start:
            guard Self.mayBegin(buffer) else { throw HTTPParserError.invalidVersion }
            guard let line = try line(&buffer) else { return .needMoreData }
            // Empty lines before an answer are ignored (RFC 9112, section 2.2).
            guard !line.isEmpty else { break }
            head = try Self.head(line)
            state = .fields
        case .fields:
            return try readField(context, &buffer)
        case .sized(let left), .chunk(let left):
            guard let part = buffer.readSlice(length: min(left, buffer.readableBytes)), part.readableBytes > 0 else {
                return .needMoreData
            }
            context.fireChannelRead(wrapInboundOut(.body(part)))
            advance(to: left - part.readableBytes, context)
        case .chunkSize:
            guard let line = try line(&buffer) else { return .needMoreData }
            let size = line.prefix { $0 != UInt8(ascii: ";") }.trimmed
            guard let length = Int(size.text, radix: 16), length >= 0 else { throw HTTPParserError.invalidChunkSize }
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
        // Only the trailers are missing, which are ignored anyway.
        case .untilEnd, .trailers: finish(context)
        case .fields:
            pass(headers, context)
            throw HTTPParserError.invalidEOFState
        default: throw HTTPParserError.invalidEOFState
        }
        return .needMoreData
    }

    // MARK: - The head

    private mutating func readField(
        _ context: ChannelHandlerContext,
        _ buffer: inout ByteBuffer
    ) throws -> DecodingState {
        let before = buffer.readableBytes
        guard let line = try line(&buffer) else { return .needMoreData }
        guard let first = line.first else {
            try end(context)
            return .continue
        }
        head.size += before - buffer.readableBytes
        guard head.size <= Self.longestHead else {
            pass(headers, context)
            throw HTTPParserError.headerOverflow
        }
        if let last = head.fields.indices.last, first.isBlank {
            head.fields[last].value += " \(line.trimmed.text)"
        } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
            let name = line[..<colon].trimmed
            if !name.isEmpty { head.fields.append((name.text, line[(colon + 1)...].trimmed.text)) }
        }
        return .continue
    }

    /// Ends the head and derives the body's framing from it (RFC 9112, section 6.3).
    private mutating func end(_ context: ChannelHandlerContext) throws {
        if (100...199).contains(head.status), head.status != 101 {
            state = .start
            return
        }
        var headers = headers
        let codings = headers[canonicalForm: "transfer-encoding"].map { $0.lowercased() }
        let lengths = headers[canonicalForm: "content-length"].map { Int($0) }
        let isBodiless = [101, 204, 304].contains(head.status)
        // If a body follows nevertheless, it would be read as the next answer.
        if isBodiless, !codings.isEmpty || lengths.contains(where: { $0 != 0 }) {
            headers.replaceOrAdd(name: "Connection", value: "close")
        }
        pass(headers, context)
        if isBodiless {
            finish(context)
        } else if codings.last == "chunked" {
            state = .chunkSize
        } else if !codings.isEmpty, codings != ["identity"] {
            state = .untilEnd
        } else if let first = lengths.first {
            guard let length = first, length >= 0, lengths.allSatisfy({ $0 == length }) else {
                throw HTTPParserError.invalidContentLength
            }
            state = .sized(left: length)
            if length == 0 { finish(context) }
        } else {
            state = .untilEnd
        }
    }

    private var headers: HTTPHeaders { HTTPHeaders(head.fields.map { ($0.name, $0.value) }) }

    private func pass(_ headers: HTTPHeaders, _ context: ChannelHandlerContext) {
        let status = HTTPResponseStatus(statusCode: head.status)
        let part = HTTPResponseHead(version: head.version, status: status, headers: headers)
        context.fireChannelRead(wrapInboundOut(.head(part)))
    }

    /// True when the buffer may hold empty lines and the beginning of an answer.
    private static func mayBegin(_ buffer: ByteBuffer) -> Bool {
        let start = buffer.readableBytesView.drop { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }
        return zip(start, protocolName).allSatisfy { $0 | 0x20 == $1 }
    }

    private static let protocolName = Array("http".utf8)

    /// Parses a status line such as `HTTP/1.1 200 OK`; any version but 1.1 counts as 1.0, which keeps no connection
    /// open.
    private static func head(_ line: ByteBufferView) throws -> Head {
        let words = line.split(maxSplits: 2, whereSeparator: \.isBlank)
        guard words.count >= 2 else { throw HTTPParserError.invalidVersion }
        let version = words[0].text.lowercased()
        guard version.hasPrefix("http") else { throw HTTPParserError.invalidVersion }
        let digits = words[1].prefix { (0x30...0x39).contains($0) }
        guard digits.count == 3, let status = Int(digits.text), status >= 100 else {
            throw HTTPParserError.invalidStatus
        }
        return Head(version: version == "http/1.1" ? .http1_1 : .http1_0, status: status)
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

    /// The next line without its line end; nil when it is incomplete.
    private func line(_ buffer: inout ByteBuffer) throws -> ByteBufferView? {
        let view = buffer.readableBytesView
        guard let end = view.firstIndex(of: UInt8(ascii: "\n")) else {
            if view.count > Self.longestHead { throw HTTPParserError.headerOverflow }
            return nil
        }
        buffer.moveReaderIndex(forwardBy: end - view.startIndex + 1)
        let line = view[..<end]
        return line.last == UInt8(ascii: "\r") ? line.dropLast() : line
    }
}

extension UInt8 {
    fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}

extension ByteBufferView {
    fileprivate var text: String { String(decoding: self, as: UTF8.self) }

    fileprivate var trimmed: ByteBufferView {
        guard let first = firstIndex(where: { !$0.isBlank }), let last = lastIndex(where: { !$0.isBlank }) else {
            return self[endIndex...]
        }
        return self[first...last]
    }
}
