// SPDX-License-Identifier: Apache-2.0

package import Verification

/// One recipient of a tenant, as its row stores it: the slots of all purposes, and the admissions.
package struct Person: Sendable, Equatable {
    /// Slots are kept for so long after a send: its message leaves within a day, and is valid for a day at most.
    static let slotLife = Duration.seconds(50 * 3600)

    private var slots: [Slot] = []
    package private(set) var window = LimitWindow()

    /// Nothing of it is looked up after that time.
    package private(set) var keptUntil: Timestamp

    private struct Slot: Sendable, Equatable {
        let purpose: UInt8
        let id: UUIDValue
    }

    /// Somebody without a verification and without an admission.
    package init(keptUntil: Timestamp) {
        self.keptUntil = keptUntil
    }

    /// Reads what `encodedSlots` wrote; an incomplete last slot is left out.
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

    /// Points a slot to the verification that gets a send.
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
    /// The persons of this batch as they are then, by how they were before.
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
    /// The purpose in a person's row: a number that no other one gets.
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
