// SPDX-License-Identifier: Apache-2.0

import Yams

/// Merge keys (https://yaml.org/type/merge.html), by which a mapping inherits missing entries from others.
extension Node.Mapping {
    /// The maximum number of keys and mappings merged into one mapping.
    ///
    /// A few hundred bytes of nested merges could otherwise expand to millions of entries.
    static let maximumMerged = 10_000

    /// The mapping's own entries, then the merged ones; of equal keys the first one counts.
    var entriesWithMerged: [(key: Node, value: Node, isMerged: Bool)] {
        var left = Self.maximumMerged
        return entries(merging: &left)
    }

    /// True when the merge keys exceed `maximumMerged`.
    var mergesTooMuch: Bool {
        var left = Self.maximumMerged
        _ = entries(merging: &left)
        return left < 0
    }

    private func entries(merging left: inout Int) -> [(key: Node, value: Node, isMerged: Bool)] {
        var entries = filter { !$0.key.isMergeKey }.map { (key: $0.key, value: $0.value, isMerged: false) }
        for mapping in filter(\.key.isMergeKey).flatMap({ $0.value.mappings ?? [] }) where left >= 0 {
            left -= 1 + mapping.count
            entries += mapping.entries(merging: &left).map { (key: $0.key, value: $0.value, isMerged: true) }
        }
        return entries
    }

    /// The merge keys whose value is neither a mapping nor a list of mappings.
    var unusableMerges: [Node] {
        filter { $0.key.isMergeKey && $0.value.mappings == nil }.map(\.key)
    }
}

extension Node {
    /// True for the key `<<` without quotes; in quotes it is an ordinary name.
    fileprivate var isMergeKey: Bool {
        guard case .scalar(let scalar) = self else { return false }
        return scalar.string == "<<" && (scalar.style == .plain || scalar.style == .any)
    }

    /// The mapping of a node, or the mappings in its list; nil for anything else.
    fileprivate var mappings: [Node.Mapping]? {
        switch self {
        case .mapping(let mapping): return [mapping]
        case .sequence(let sequence):
            let mappings = sequence.compactMap { if case .mapping(let mapping) = $0 { mapping } else { nil } }
            return mappings.count == sequence.count ? mappings : nil
        default: return nil
        }
    }
}
