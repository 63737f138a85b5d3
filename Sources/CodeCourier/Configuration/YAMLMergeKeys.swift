// SPDX-License-Identifier: Apache-2.0

import Yams

/// Merge keys (https://yaml.org/type/merge.html), by which a mapping takes what it does not say from others.
extension Node.Mapping {
    /// The mapping's own entries, then those that its merge keys bring in; of equal keys the first one counts.
    var entriesWithMerged: [(key: Node, value: Node, isMerged: Bool)] {
        let own = filter { !$0.key.isMergeKey }.map { (key: $0.key, value: $0.value, isMerged: false) }
        let merged = filter(\.key.isMergeKey).flatMap { $0.value.mappings ?? [] }.flatMap(\.entriesWithMerged)
        return own + merged.map { (key: $0.key, value: $0.value, isMerged: true) }
    }

    /// The merge keys that stand before something else than a mapping or a list of mappings.
    var unusableMerges: [Node] {
        filter { $0.key.isMergeKey && $0.value.mappings == nil }.map(\.key)
    }
}

extension Node {
    /// Whether a key is `<<`, without quotes, which would make it a name.
    fileprivate var isMergeKey: Bool {
        guard case .scalar(let scalar) = self else { return false }
        return scalar.string == "<<" && (scalar.style == .plain || scalar.style == .any)
    }

    /// The mapping that a node is, or the mappings that it lists; nil for anything else.
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
