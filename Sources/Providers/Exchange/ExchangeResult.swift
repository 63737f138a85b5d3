// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1

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

    /// The body's bytes, decompressed; nil when it was cut.
    var content: [UInt8]? {
        guard let body = try? body.get() else { return nil }
        let bytes = Array(body.readableBytesView)
        // Not every gateway that compresses says so.
        let isCompressed = bytes.starts(with: [0x1F, 0x8B]) || headers.contains(name: "Content-Encoding")
        return isCompressed ? Inflated.bytes(bytes) ?? bytes : bytes
    }
}

/// The body of an answer ended before its end.
struct AnswerCut: Error {
    let failure: TransportFailure
}
