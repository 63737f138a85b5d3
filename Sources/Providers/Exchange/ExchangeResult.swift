// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1
import Verification

/// What is known after one request.
enum ExchangeResult: Sendable {
    /// The answer's head came, and its body whole or not.
    case answered(HTTPAnswer)

    /// The request's body never left and never will.
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

    /// The body's bytes, decompressed and in UTF-8; nil when it was cut before the end of what it says.
    ///
    /// A length that is stated wrongly and a connection that is not ended take nothing away from a whole JSON document.
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
        // Not every gateway that compresses says so.
        let isCompressed = bytes.starts(with: [0x1F, 0x8B]) || headers.contains(name: "Content-Encoding")
        return Self.fromUTF16(isCompressed ? Inflated.bytes(bytes) ?? bytes : bytes)
    }

    /// Text that a byte order mark says to be UTF-16, in UTF-8; any other as it is.
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

/// The body of an answer ended before its end.
struct AnswerCut: Error {
    let failure: TransportFailure

    /// What came before.
    var received = ByteBuffer()
}
