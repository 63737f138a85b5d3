// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Synchronization

/// Records whether a request's body may have been sent, and can prevent its sending.
///
/// A provider cannot act on a request whose body it has not received. So an error that comes before AsyncHTTPClient has
/// requested the body proves that nothing was sent, whatever the error is; afterwards nothing is proved. Two sides race
/// (a deadline against a connection that has just become ready), hence one lock decides which came first:
///
/// - `waiting` → `departed` when the body is requested: from then on the outcome of a failure is unknown;
/// - `waiting` → `barred` when the call is given up: the body is withheld from then on.
///
/// After `leaveBy` the gate releases no body either.
final class BodyGate: Sendable {
    /// The body may no longer be sent: `leaveBy` has passed, or the call was given up.
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

    /// True when the message may no longer be sent.
    var isTooLate: Bool { leaveBy <= .now }

    /// Releases the body, unless the gate is barred or `leaveBy` has passed.
    func depart() -> Bool {
        state.withLock { state in
            if state == .waiting { state = isTooLate ? .barred : .departed }
            return state == .departed
        }
    }

    /// Bars the gate; true when the body was not and will not be sent.
    func bar() -> Bool {
        state.withLock { state in
            guard state != .departed else { return false }
            state = .barred
            return true
        }
    }
}

/// A request body in one chunk, released by a gate.
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
