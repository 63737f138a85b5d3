// SPDX-License-Identifier: Apache-2.0

import Formats
import FoundationEssentials
import Hummingbird

extension Response {
    /// A response with the value as JSON, on one line.
    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        try json(body: ResponseBody(byteBuffer: JSONLine.buffer(of: value)), status: status)
    }

    /// A response with a body that is already JSON.
    static func json(body: ResponseBody, status: HTTPResponse.Status) -> Response {
        Response(status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"], body: body)
    }
}

/// JSON with sorted keys and without line breaks, so that it fits a record file and an event stream.
enum JSONLine {
    static func buffer(of value: some Encodable) throws -> ByteBuffer {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return ByteBuffer(bytes: try encoder.encode(value))
    }
}

extension JSONValue {
    /// Parses a request's body; `nil` when it is no JSON.
    init?(body: some Collection<UInt8>) {
        guard let value = try? JSONScanner.parse(Array(body), limits: JSONLimits(maximumDepth: 64)) else { return nil }
        self = value
    }

    /// The text of a string or a whole number, as a form would carry it; `nil` for an empty string and other values.
    var text: String? {
        switch self {
        case .string(let value): value.isEmpty ? nil : value
        case .number(let value): value.double.flatMap { Int(exactly: $0) }.map { String($0) }
        default: nil
        }
    }
}
