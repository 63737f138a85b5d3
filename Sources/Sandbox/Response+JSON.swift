// SPDX-License-Identifier: Apache-2.0

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
