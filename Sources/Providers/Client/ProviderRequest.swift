// SPDX-License-Identifier: Apache-2.0

import Formats
import FoundationEssentials
import NIOCore
import NIOHTTP1
import Verification

/// A request without its body: target and headers.
///
/// The head is serialized once, since most requests to one provider differ only in their bodies.
struct ProviderRequest: Sendable {
    /// The parsed address; nil where it is no valid HTTP address.
    let target: Target?

    /// The request line and all headers except those that depend on body and message.
    ///
    /// Nil where a header contains a line break or another character that could split it: values made from templates
    /// may hold anything.
    private let head: ByteBuffer?

    /// True when the configured headers contain a `traceparent`, which then replaces the message's own.
    private let hasTrace: Bool
    private let isGet: Bool

    /// Creates a request with these headers, and with default headers that they do not override.
    init(to target: Target?, method: HTTPMethod = .POST, headers: HTTPHeaders) {
        self.target = target
        hasTrace = headers.contains(name: "traceparent")
        isGet = method == .GET
        guard let target, headers.areWellFormed else {
            head = nil
            return
        }
        var all: HTTPHeaders = [
            "Host": target.authority, "Accept": "application/json",
            // Some gateways compress their answers unless this header forbids it.
            "Accept-Encoding": "identity", "User-Agent": "code-courier",
        ]
        for (name, value) in headers { all.replaceOrAdd(name: name, value: value) }
        var head = ByteBuffer()
        // A proxy without a tunnel needs the absolute URL in the request line.
        let proxy = target.origin.isSecure ? nil : target.origin.options?.proxy
        let path = proxy == nil ? target.path : "http://\(target.authority)\(target.path)"
        if let login = proxy?.authorization { all.replaceOrAdd(name: "Proxy-Authorization", value: login) }
        head.writeString("\(method.rawValue) \(path) HTTP/1.1\r\n")
        for (name, value) in all { head.writeString("\(name): \(value)\r\n") }
        self.head = head
    }

    /// The serialized request with its body, if any, and the message's trace.
    func bytes(_ body: [UInt8]?, trace: TraceContext?) -> ByteBuffer? {
        guard let head else { return nil }
        var bytes = ByteBufferAllocator().buffer(capacity: head.readableBytes + 128 + (body?.count ?? 0))
        bytes.writeImmutableBuffer(head)
        if let trace, !hasTrace {
            bytes.writeStaticString("traceparent: ")
            bytes.writeString(trace.traceparent)
            bytes.writeStaticString("\r\n")
        }
        // Without a body, GET has no Content-Length, and POST and PUT have one (RFC 9110, section 8.6).
        if let length = body?.count ?? (isGet ? nil : 0) {
            bytes.writeStaticString("Content-Length: ")
            bytes.writeString(String(length))
            bytes.writeStaticString("\r\n")
        }
        bytes.writeStaticString("\r\n")
        if let body { bytes.writeBytes(body) }
        return bytes
    }

    static func basicAuth(username: String, password: String) -> String {
        basicAuth(Secret("\(username):\(password)"))
    }

    /// The `Authorization` value for `user:password`.
    static func basicAuth(_ login: Secret) -> String {
        "Basic \(Data(login.revealed.utf8).base64EncodedString())"
    }

    /// The address without trailing slashes, so that a path can be appended.
    static func base(_ url: String) -> Substring {
        var base = Substring(url)
        while base.hasSuffix("/") { base.removeLast() }
        return base
    }
}

extension HTTPHeaders {
    /// True when no header can be mistaken for two (header injection).
    fileprivate var areWellFormed: Bool {
        allSatisfy { name, value in
            !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") }
                && value.utf8.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }
        }
    }
}
