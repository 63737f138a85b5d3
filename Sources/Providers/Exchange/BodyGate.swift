// SPDX-License-Identifier: Apache-2.0

import CZlib
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

/// Decompresses bodies, since some gateways compress without being asked to.
enum Inflated {
    private static let capacity = 4 * HTTPAnswer.maximumSize

    /// The decompressed bytes of a gzip, zlib or raw deflate body.
    ///
    /// Raw deflate has no header: many servers misread `deflate` as that. Nil for any other form, for damaged bytes,
    /// and beyond `capacity`.
    static func bytes(_ body: [UInt8]) -> [UInt8]? {
        bytes(body, window: 15 + 32) ?? bytes(body, window: -15)
    }

    private static func bytes(_ body: [UInt8], window: Int32) -> [UInt8]? {
        guard body.count <= HTTPAnswer.maximumSize else { return nil }
        var length = -1
        let plain = [UInt8](unsafeUninitializedCapacity: capacity) { target, count in
            body.withUnsafeBufferPointer { source in
                // SAFETY: zlib reads and writes within the two buffers, limited by the sizes passed with them.
                length = courier_inflate(
                    source.baseAddress,
                    UInt32(source.count),
                    target.baseAddress,
                    UInt32(capacity),
                    window
                )
            }
            count = max(0, length)
        }
        return length < 0 ? nil : plain
    }
}
