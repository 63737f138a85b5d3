// SPDX-License-Identifier: Apache-2.0

/// The newest elements of a sequence numbered from 1.
///
/// The oldest are dropped in batches, so that an append is cheap on average.
struct BoundedLog<Element> {
    private let capacity: Int
    private var storage: [Element] = []
    /// The number of the first stored element.
    private var firstNumber = 1

    init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    var nextNumber: Int { firstNumber + storage.count }

    /// The stored elements, oldest first.
    var elements: ArraySlice<Element> { storage.suffix(capacity) }

    /// Appends an element and returns those that were dropped.
    mutating func append(_ element: Element) -> [Element] {
        storage.append(element)
        guard storage.count >= capacity + max(1, capacity / 8) else { return [] }
        let surplus = storage.count - capacity
        let dropped = Array(storage.prefix(surplus))
        storage.removeFirst(surplus)
        firstNumber += surplus
        return dropped
    }

    /// The elements with a greater number, oldest first.
    func elements(after number: Int) -> ArraySlice<Element> {
        let (skipped, overflow) = number.subtractingReportingOverflow(firstNumber - 1)
        if overflow { return number < 0 ? elements : [] }
        return elements.suffix(max(0, storage.count - max(0, skipped)))
    }

    /// The element with this number; `nil` when it was dropped.
    subscript(number: Int) -> Element? {
        get { index(of: number).map { storage[$0] } }
        set {
            if let index = index(of: number), let newValue { storage[index] = newValue }
        }
    }

    /// Removes all elements; the numbering continues.
    mutating func removeAll() {
        firstNumber = nextNumber
        storage = []
    }

    private func index(of number: Int) -> Int? {
        guard number >= firstNumber, number < nextNumber else { return nil }
        let index = number - firstNumber
        return index >= storage.count - capacity ? index : nil
    }
}
