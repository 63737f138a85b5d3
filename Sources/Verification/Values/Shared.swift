// SPDX-License-Identifier: Apache-2.0

/// A large immutable value, stored once however often its owner is copied.
final class Shared<Value: Sendable & Equatable>: Sendable, Equatable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }

    static func == (one: Shared, other: Shared) -> Bool { one === other || one.value == other.value }
}
