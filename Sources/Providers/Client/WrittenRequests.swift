// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1

/// Passes requests on that are bytes already, head and body in one piece, where NIO's encoder would write them anew.
///
/// The decoder of answers stands before it and looks at the head of each request: without one it takes an answer for
/// unasked, and by its method it knows whether a body follows. It is shown `head`, which goes no further.
final class WrittenRequests: ChannelOutboundHandler {
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = IOData

    /// Stands for the head of any request whose answer may have a body.
    static let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: "/")

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .body(let bytes): context.write(wrapOutboundOut(bytes), promise: promise)
        case .head, .end: promise?.succeed()
        }
    }
}
