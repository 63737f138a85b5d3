// SPDX-License-Identifier: Apache-2.0

/// The rounds of a scenario's faults, numbered from 0.
///
/// The long run has all rounds. The quick run has a minimum, and more while `Campaign.budget` lasts, so that it takes
/// about as long on any machine.
struct Rounds: Sequence, IteratorProtocol {
    private let count: Int
    private let minimum: Int
    private var begun = 0

    /// Nil in the long run, and before the first round.
    private var end: ContinuousClock.Instant?

    init(_ count: Int, atLeast minimum: Int) {
        (self.count, self.minimum) = (count, Campaign.isFull ? count : minimum)
    }

    mutating func next() -> Int? {
        let end = end ?? .now + Campaign.budget
        self.end = end
        guard begun < count, begun < minimum || .now < end else { return nil }
        defer { begun += 1 }
        return begun
    }
}

extension Scenario {
    /// The scenario's rounds: `count`, or by default its size.
    func rounds(_ count: Int? = nil, atLeast minimum: Int = 1) -> Rounds {
        Rounds(count ?? size, atLeast: minimum)
    }
}
