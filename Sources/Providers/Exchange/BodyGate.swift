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
final class BodyGate: Sendable {
    private enum State {
        case waiting
        case departed
        case barred
    }

    private let state = Mutex(State.waiting)

    /// Lets the body out, unless the gate is barred.
    func depart() -> Bool {
        state.withLock { state in
            guard state != .barred else { return false }
            state = .departed
            return true
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
            guard gate.depart() else { throw CancellationError() }
            content = nil
            return piece
        }
    }
}
