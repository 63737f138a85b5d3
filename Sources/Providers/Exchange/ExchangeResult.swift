// SPDX-License-Identifier: Apache-2.0

import Formats
import NIOCore
import NIOHTTP1
import Verification

/// The result of one request.
enum ExchangeResult: Sendable {
    /// The answer's head was received, and its body whole or in part.
    case answered(HTTPAnswer)

    /// The request's body was not and will not be sent.
    case notSent(TransportFailure)

    /// The request may have arrived.
    case unknown(TransportFailure)
}

/// An answer of at most `maximumSize` bytes.
struct HTTPAnswer: Sendable {
    static let maximumSize = 64 * 1024

    let status: Int
    let headers: HTTPHeaders
    let body: Result<ByteBuffer, AnswerCut>

    var isSuccess: Bool { (200...299).contains(status) }

    /// The body's bytes, decompressed and in UTF-8; nil when it was cut before its content was complete.
    ///
    /// A JSON document that is complete counts in spite of a wrong length or a connection that stays open.
    var content: [UInt8]? {
        switch body {
        case .success(let body): return plain(body)
        case .failure(let cut):
            let bytes = plain(cut.received)
            return JSONScanner.isWhole(bytes) ? bytes : nil
        }
    }

    private func plain(_ body: ByteBuffer) -> [UInt8] {
        let bytes = Array(body.readableBytesView)
        // Some gateways compress without a Content-Encoding header: the gzip magic number identifies those.
        let isCompressed = bytes.starts(with: [0x1F, 0x8B]) || headers.contains(name: "Content-Encoding")
        return Self.fromUTF16(isCompressed ? Inflated.bytes(bytes) ?? bytes : bytes)
    }

    /// Converts UTF-16 with a byte order mark to UTF-8; returns other text as it is.
    private static func fromUTF16(_ bytes: [UInt8]) -> [UInt8] {
        let isLittle = bytes.starts(with: [0xFF, 0xFE])
        guard isLittle || bytes.starts(with: [0xFE, 0xFF]) else { return bytes }
        let units = stride(from: 2, to: bytes.count - 1, by: 2).map { index in
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            return isLittle ? second << 8 | first : first << 8 | second
        }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }
}

/// The answer ended before its body was complete.
struct AnswerCut: Error {
    let failure: TransportFailure

    /// The part of the body that was received.
    var received = ByteBuffer()
}
