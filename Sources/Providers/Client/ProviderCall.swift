// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1

/// One request and its state; used only on its event loop.
///
/// - `waiting` → `departed` when the request is written to a connection: from then on a failure has an unknown outcome.
///   A provider cannot act on a request that it has not received, so a call that fails before that has sent nothing.
/// - either → `ended`, once, with the result.
final class ProviderCall {
    enum State {
        case waiting
        case departed(ProviderConnection)
        case ended
    }

    /// The bytes of head and body.
    let request: ByteBuffer
    let origin: Target.Origin
    let deadline: NIODeadline

    /// The latest time at which the request may be written.
    let leaveBy: ContinuousClock.Instant
    private(set) var state = State.waiting
    private let continuation: CheckedContinuation<ExchangeResult, Never>

    /// The answer's head, once received.
    private var head: HTTPResponseHead?
    private var answer = ByteBuffer()

    init(
        _ request: ByteBuffer,
        to origin: Target.Origin,
        deadline: NIODeadline,
        leaveBy: ContinuousClock.Instant,
        _ continuation: CheckedContinuation<ExchangeResult, Never>
    ) {
        self.request = request
        self.origin = origin
        self.deadline = deadline
        self.leaveBy = leaveBy
        self.continuation = continuation
    }

    var isWaiting: Bool {
        if case .waiting = state { true } else { false }
    }

    var isEnded: Bool {
        if case .ended = state { true } else { false }
    }

    /// The reason why the call may no longer be written; nil while it may be.
    var hindrance: TransportFailure? {
        if deadline <= .now() { .timeout } else if leaveBy <= .now { .tooLate } else { nil }
    }

    func depart(on connection: ProviderConnection) {
        state = .departed(connection)
    }

    /// Stores the answer's head; false when it announces a body longer than `maximumSize`.
    func receive(_ head: HTTPResponseHead) -> Bool {
        self.head = head
        guard let length = head.headers.first(name: "Content-Length").flatMap({ Int($0) }) else { return true }
        return length <= HTTPAnswer.maximumSize
    }

    /// Appends a part of the answer's body; false when it exceeds `maximumSize`.
    func receive(_ part: inout ByteBuffer) -> Bool {
        guard answer.readableBytes + part.readableBytes <= HTTPAnswer.maximumSize else { return false }
        answer.writeBuffer(&part)
        return true
    }

    /// Ends the call with the received answer.
    func finish() {
        guard let head else { return fail(.malformedAnswer) }
        end(.answered(HTTPAnswer(status: Int(head.status.code), headers: head.headers, body: .success(answer))))
    }

    /// Ends the call with a failure: a cut answer once the head was received, else by whether the request may have been
    /// sent.
    ///
    /// A failure that proves that the peer read nothing counts only before the first byte of an answer.
    ///
    /// A cancelled call is always unknown: the caller is shutting down, and another worker decides on the send.
    func fail(_ failure: TransportFailure) {
        if let head {
            let cut = AnswerCut(failure: failure, received: answer)
            end(.answered(HTTPAnswer(status: Int(head.status.code), headers: head.headers, body: .failure(cut))))
        } else if isWaiting || failure.provesNotProcessed, failure != .cancelled {
            end(.notSent(failure))
        } else {
            end(.unknown(failure))
        }
    }

    /// Ends the call early, and closes its connection.
    func stop(_ failure: TransportFailure) {
        if case .departed(let connection) = state { connection.close(failure) } else { fail(failure) }
    }

    private func end(_ result: ExchangeResult) {
        guard !isEnded else { return }
        state = .ended
        continuation.resume(returning: result)
    }
}
