// SPDX-License-Identifier: Apache-2.0

/// A list of at most two elements, without an array's allocation.
package struct UpToTwo<Element: Sendable>: Sequence, IteratorProtocol, Sendable {
    package private(set) var first: Element?
    private var second: Element?

    package init(_ first: Element? = nil, _ second: Element? = nil) {
        self.first = first ?? second
        self.second = first == nil ? nil : second
    }

    package mutating func next() -> Element? {
        defer { (first, second) = (second, nil) }
        return first
    }
}
