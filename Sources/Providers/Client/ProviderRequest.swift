// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import NIOCore
import NIOHTTP1
import Verification

/// A request without its body: where it goes and what it says of itself.
///
/// Its head is written once, since most requests to one provider differ in their bodies only.
struct ProviderRequest: Sendable {
    /// Nil where the address is none that a request can go to.
    let target: Target?

    /// The request line and all headers but those that a body and a message bring; nil where a header could be taken for
    /// two: values made from templates may hold anything.
    private let head: ByteBuffer?

    /// Whether the headers name a trace, so that a message's own is left out.
    private let hasTrace: Bool
    private let isGet: Bool

    /// A request with these headers, and those that every provider gets where they have no other value.
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
            // Some gateways compress their answers unless told not to.
            "Accept-Encoding": "identity", "User-Agent": "code-courier",
        ]
        for (name, value) in headers { all.replaceOrAdd(name: name, value: value) }
        var head = ByteBuffer()
        // A proxy without a tunnel has to be told where a request goes.
        let proxy = target.origin.isSecure ? nil : target.origin.options?.proxy
        let path = proxy == nil ? target.path : "http://\(target.authority)\(target.path)"
        if let login = proxy?.authorization { all.replaceOrAdd(name: "Proxy-Authorization", value: login) }
        head.writeString("\(method.rawValue) \(path) HTTP/1.1\r\n")
        for (name, value) in all { head.writeString("\(name): \(value)\r\n") }
        self.head = head
    }

    /// The whole request with its body, if it has one, and with the trace that the message belongs to.
    func bytes(_ body: [UInt8]?, trace: TraceContext?) -> ByteBuffer? {
        guard let head else { return nil }
        var bytes = ByteBufferAllocator().buffer(capacity: head.readableBytes + 128 + (body?.count ?? 0))
        bytes.writeImmutableBuffer(head)
        if let trace, !hasTrace {
            bytes.writeStaticString("traceparent: ")
            bytes.writeString(trace.traceparent)
            bytes.writeStaticString("\r\n")
        }
        // Without a body, GET has no length either, and POST and PUT have one (RFC 9110, section 8.6).
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

    /// Of `user:password`.
    static func basicAuth(_ login: Secret) -> String {
        "Basic \(Data(login.revealed.utf8).base64EncodedString())"
    }

    /// An address to which a path can be appended.
    static func base(_ url: String) -> Substring {
        var base = Substring(url)
        while base.hasSuffix("/") { base.removeLast() }
        return base
    }
}

extension HTTPHeaders {
    /// Whether none can be taken for two.
    fileprivate var areWellFormed: Bool {
        allSatisfy { name, value in
            !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") }
                && value.utf8.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }
        }
    }
}
