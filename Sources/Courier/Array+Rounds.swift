// SPDX-License-Identifier: Apache-2.0

extension Array {
    /// The elements in their order, split so that each part has a key once.
    func rounds<Key: Hashable>(by key: (Element) -> Key) -> [[Element]] {
        var rounds: [[Element]] = []
        var counts: [Key: Int] = [:]
        for element in self {
            let key = key(element)
            let round = counts[key, default: 0]
            counts[key] = round + 1
            if round == rounds.count { rounds.append([]) }
            rounds[round].append(element)
        }
        return rounds
    }
}
