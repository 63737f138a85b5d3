// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Synchronization

/// Knows whether a request's body may have left, and can forbid it to leave.
///
/// A provider cannot act on a request whose body it has not got. So an error that comes before AsyncHTTPClient has asked
/// for the body is proof that nothing was sent, whatever the error is; afterwards nothing is proved. The two ends race
/// (a deadline against a connection that is just ready), hence one lock decides which came first:
///
/// - `waiting` → `departed` when the body is asked for: the outcome of a failure is unknown;
/// - `waiting` → `barred` when the call is given up: the body is withheld from then on.
///
/// From the moment at which the message is too late on, the gate lets nothing out either.
final class BodyGate: Sendable {
    /// The message is too late for its body to leave, or the call has been given up.
    struct Closed: Error {}

    private enum State {
        case waiting
        case departed
        case barred
    }

    private let state = Mutex(State.waiting)
    private let leaveBy: ContinuousClock.Instant

    init(leaveBy: ContinuousClock.Instant) {
        self.leaveBy = leaveBy
    }

    /// Whether the message's time is over.
    var isTooLate: Bool { leaveBy <= .now }

    /// Lets the body out, unless the gate is barred, be it by time.
    func depart() -> Bool {
        state.withLock { state in
            if state == .waiting { state = isTooLate ? .barred : .departed }
            return state == .departed
        }
    }

    /// Bars the gate and says whether the body surely never leaves.
    func bar() -> Bool {
        state.withLock { state in
            guard state != .departed else { return false }
            state = .barred
            return true
        }
    }
}

/// A request body in one piece that leaves through a gate.
struct GatedBody: AsyncSequence, Sendable {
    let content: ByteBuffer
    let gate: BodyGate

    func makeAsyncIterator() -> Iterator {
        Iterator(content: content, gate: gate)
    }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate var content: ByteBuffer?
        fileprivate let gate: BodyGate

        mutating func next() async throws -> ByteBuffer? {
            guard let piece = content else { return nil }
            guard gate.depart() else { throw BodyGate.Closed() }
            content = nil
            return piece
        }
    }
}
