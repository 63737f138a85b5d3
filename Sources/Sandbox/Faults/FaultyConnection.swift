// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import NIOCore
import ServiceLifecycle

/// A client's connection whose answers can be disturbed by a fault.
struct FaultyConnection: Sendable {
    let channel: any Channel

    /// Closes the connection; the returned response satisfies the caller's type and is never sent.
    func cut() -> Response {
        channel.close(promise: nil)
        return Response(status: .serviceUnavailable)
    }

    /// Sends the answer to an accepted message, disturbed by the fault.
    ///
    /// Throws `CancellationError` when the sandbox stops while the answer is withheld.
    func deliver(_ answer: GatewayAnswer, fault: Fault?) async throws -> Response {
        switch fault {
        case .delay(let duration):
            try await Self.pause(duration)
        case .cut:
            return cut()
        case .silence:
            try await waitForClient()
            return cut()
        case .drip(let interval):
            return answer.response(body: Self.dripping(answer.body, interval: interval))
        case .endless:
            return answer.response(body: Self.endless())
        case .status, .receipt, .error, .reason, .rate, nil:
            break
        }
        return answer.response(body: ResponseBody(byteBuffer: answer.body))
    }

    /// Suspends until the client closes the connection, or until the sandbox stops, which closes it too.
    private func waitForClient() async throws {
        try await withTaskCancellationOrGracefulShutdownHandler {
            try await HangUpWatch.hangUp(on: channel).get()
        } onCancelOrGracefulShutdown: {
            channel.close(promise: nil)
        }
    }

    private static func dripping(_ body: ByteBuffer, interval: Duration) -> ResponseBody {
        ResponseBody(contentLength: body.readableBytes) { writer in
            for byte in body.readableBytesView {
                try await pause(interval)
                try await writer.write(ByteBuffer(bytes: CollectionOfOne(byte)))
            }
            try await writer.finish(nil)
        }
    }

    /// An endless body of spaces, which a JSON parser skips, at most a hundred KiB a second.
    private static func endless() -> ResponseBody {
        let filler = ByteBuffer(repeating: UInt8(ascii: " "), count: 1024)
        return ResponseBody { writer in
            while true {
                try await writer.write(filler)
                try await pause(.milliseconds(10))
            }
        }
    }

    /// Sleeps, since slowness is the fault itself; throws when the sandbox stops meanwhile, which closes the
    /// connection.
    private static func pause(_ duration: Duration) async throws {
        try await cancelWhenGracefulShutdown { try await Task.sleep(for: duration) }
    }
}
