// SPDX-License-Identifier: Apache-2.0

/// The invariants of every run, whatever faults it had.
enum Invariant: String, Sendable, CaseIterable {
    /// I1: every request has exactly one decision, and every unreadable record becomes a dead letter.
    case decided

    /// I2: the provider accepts a message once, and a second time only if the first outcome was unknown.
    case onceEach

    /// I3: all messages of one generation of a verification carry its code.
    case oneCode

    /// I4: no message starts after its send's deadline.
    case inTime

    /// I5: state changes and events correspond one to one, in order.
    case toldOnce

    /// I6: no offset is committed before its record's decision is durable.
    case committedLast

    /// I7: no fence falls, and only its claim's holder settles a send.
    case fenced

    /// I8: no output shows a number, a code or a secret.
    case secret

    /// I9: no message is sent to a number whose requests were refused.
    case refusedStays
}

/// A broken invariant of a run, described by ids only, without numbers and codes.
struct Violation: Hashable, Sendable, CustomStringConvertible {
    let invariant: Invariant
    let text: String

    var description: String { "\(invariant.rawValue): \(text)" }
}
