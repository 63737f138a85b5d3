// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import NIOCore
import ServiceLifecycle

/// A client's connection on which an answer can go wrong.
struct FaultyConnection: Sendable {
    let channel: any Channel

    /// Closes the connection; the response is for the caller to return, and reaches nobody.
    func cut() -> Response {
        channel.close(promise: nil)
        return Response(status: .serviceUnavailable)
    }

    /// The answer to a message that was taken, or what the fault makes of it.
    ///
    /// Throws `CancellationError` when the sandbox stops while the answer is held back.
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

    /// Suspends until the client hangs up; when the sandbox stops first, the connection is closed, which ends the wait too.
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

    /// Spaces, which a JSON parser waits behind, at most a hundred KiB a second.
    private static func endless() -> ResponseBody {
        let filler = ByteBuffer(repeating: UInt8(ascii: " "), count: 1024)
        return ResponseBody { writer in
            while true {
                try await writer.write(filler)
                try await pause(.milliseconds(10))
            }
        }
    }

    /// Sleeps, as being slow is the fault itself; throws when the sandbox stops meanwhile, which closes the connection.
    private static func pause(_ duration: Duration) async throws {
        try await cancelWhenGracefulShutdown { try await Task.sleep(for: duration) }
    }
}
