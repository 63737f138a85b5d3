// SPDX-License-Identifier: Apache-2.0

package import Formats
package import Verification

/// A recipient of a tenant, as its row stores it: the slots of all purposes, and the admissions.
package struct Person: Sendable, Equatable {
    /// Time for which a slot is kept after a send: its message leaves within a day, and is valid for at most a day.
    static let slotLife = Duration.seconds(50 * 3600)

    private var slots: [Slot] = []
    package private(set) var window = LimitWindow()

    /// The time after which no data of the row is needed.
    package private(set) var keptUntil: Timestamp

    private struct Slot: Sendable, Equatable {
        let purpose: UInt8
        let id: UUIDValue
    }

    /// Makes a person without verifications and admissions.
    package init(keptUntil: Timestamp) {
        self.keptUntil = keptUntil
    }

    /// Decodes the bytes of `encodedSlots`; ignores an incomplete last slot.
    package init(encodedSlots bytes: [UInt8], window: LimitWindow, keptUntil: Timestamp) {
        for start in stride(from: 0, through: bytes.count - 17, by: 17) {
            let id = bytes[start + 1..<start + 17].reduce(0) { $0 << 8 | UInt128($1) }
            slots.append(Slot(purpose: bytes[start], id: UUIDValue(id)))
        }
        self.window = window
        self.keptUntil = keptUntil
    }

    /// 17 bytes a slot: the number of its purpose, and the id of its verification.
    package var encodedSlots: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(slots.count * 17)
        for slot in slots {
            bytes.append(slot.purpose)
            withUnsafeBytes(of: slot.id.value.bigEndian) { bytes.append(contentsOf: $0) }
        }
        return bytes
    }

    package subscript(purpose: Purpose) -> VerificationID? {
        slots.first { $0.purpose == purpose.number }.map { VerificationID($0.id) }
    }

    /// Points the slot of a purpose to the verification that gets a send.
    package mutating func point(_ purpose: Purpose, to id: VerificationID, at now: Timestamp) {
        slots.removeAll { $0.purpose == purpose.number }
        slots.append(Slot(purpose: purpose.number, id: id.uuid))
        keptUntil = max(keptUntil, now + Self.slotLife)
    }

    package mutating func count(_ change: WindowChange) {
        window = change.window
        keptUntil = max(keptUntil, change.expiry)
    }
}

extension IntakeChanges {
    /// The persons as this batch changes them, from their state before.
    package func persons(from known: [LimitKey: Person], at now: Timestamp) -> [LimitKey: Person] {
        var persons = [LimitKey: Person](minimumCapacity: slots.count)
        for (slot, id) in slots {
            persons[slot.person, default: known[slot.person] ?? Person(keptUntil: now)]
                .point(slot.purpose, to: id, at: now)
        }
        for (key, change) in windows where key.scope == .recipient {
            persons[key, default: known[key] ?? Person(keptUntil: now)].count(change)
        }
        return persons
    }
}

extension Purpose {
    /// The purpose's number in a person's row; each number belongs to one purpose forever.
    fileprivate var number: UInt8 {
        switch self {
        case .signUp: 1
        case .signIn: 2
        case .mfaEnrollment: 3
        case .mfaSignIn: 4
        case .reauthentication: 5
        case .accountLink: 6
        case .appVerification: 7
        }
    }
}
