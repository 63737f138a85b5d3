// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1

/// One request on its way; used on its event loop only.
///
/// - `waiting` → `departed` when the request is written to a connection: from then on a failure is of unknown outcome.
///   A provider cannot act on a request that it has not got, so a call that fails before surely sent nothing.
/// - either → `ended`, once, with the result.
final class ProviderCall {
    enum State {
        case waiting
        case departed(ProviderConnection)
        case ended
    }

    /// Head and body.
    let request: ByteBuffer
    let origin: Target.Origin
    let deadline: NIODeadline

    /// From then on it is not written any more.
    let leaveBy: ContinuousClock.Instant
    private(set) var state = State.waiting
    private let continuation: CheckedContinuation<ExchangeResult, Never>

    /// The answer, as far as it has come.
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

    /// Why it may not be written any more; nil while it may.
    var hindrance: TransportFailure? {
        if deadline <= .now() { .timeout } else if leaveBy <= .now { .tooLate } else { nil }
    }

    func depart(on connection: ProviderConnection) {
        state = .departed(connection)
    }

    /// Takes the answer's head; false when it announces a body longer than an answer may be.
    func receive(_ head: HTTPResponseHead) -> Bool {
        self.head = head
        guard let length = head.headers.first(name: "Content-Length").flatMap({ Int($0) }) else { return true }
        return length <= HTTPAnswer.maximumSize
    }

    /// Takes a part of the answer's body; false when it becomes longer than an answer may be.
    func receive(_ part: inout ByteBuffer) -> Bool {
        guard answer.readableBytes + part.readableBytes <= HTTPAnswer.maximumSize else { return false }
        answer.writeBuffer(&part)
        return true
    }

    /// Ends the call with the answer that is there.
    func finish() {
        guard let head else { return fail(.malformedAnswer) }
        end(.answered(HTTPAnswer(status: Int(head.status.code), headers: head.headers, body: .success(answer))))
    }

    /// Ends the call by what may have left; an answer whose head has come is one, cut.
    ///
    /// A failure that proves that nothing was read comes before a byte of an answer, or proves nothing.
    ///
    /// A cancelled caller learns nothing definite: it is leaving, and others decide on the send.
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

    /// Ends the call before its end, and the connection that it is on.
    func stop(_ failure: TransportFailure) {
        if case .departed(let connection) = state { connection.close(failure) } else { fail(failure) }
    }

    private func end(_ result: ExchangeResult) {
        guard !isEnded else { return }
        state = .ended
        continuation.resume(returning: result)
    }
}
