// SPDX-License-Identifier: Apache-2.0

/// A large value that never changes, in one place however often what holds it is copied.
final class Shared<Value: Sendable & Equatable>: Sendable, Equatable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }

    static func == (one: Shared, other: Shared) -> Bool { one === other || one.value == other.value }
}
