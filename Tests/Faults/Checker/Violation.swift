// SPDX-License-Identifier: Apache-2.0

/// What must hold after any run, whatever faults it had.
enum Invariant: String, Sendable, CaseIterable {
    /// I1: every request has exactly one decision, and every record that cannot be read is a dead letter.
    case decided

    /// I2: the provider takes a message once, and once more only where its first outcome could not be known.
    case onceEach

    /// I3: all messages of one generation of a verification carry its code.
    case oneCode

    /// I4: no message starts after its send's deadline.
    case inTime

    /// I5: changes and events belong to each other, one to one and in order.
    case toldOnce

    /// I6: no offset is committed before its record's decision is durable.
    case committedLast

    /// I7: no fence falls, and only its claim's holder settles a send.
    case fenced

    /// I8: no number, code or secret is shown.
    case secret

    /// I9: nothing goes to a number whose requests were refused.
    case refusedStays
}

/// One way in which a run broke a promise; ids only, no numbers and no codes.
struct Violation: Hashable, Sendable, CustomStringConvertible {
    let invariant: Invariant
    let text: String

    var description: String { "\(invariant.rawValue): \(text)" }
}
