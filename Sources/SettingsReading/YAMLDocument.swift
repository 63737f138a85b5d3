// SPDX-License-Identifier: Apache-2.0

import Yams

/// A YAML file as a tree of values with their keys and lines.
package enum YAMLDocument {
    /// The maximum size of a file: 1 MiB.
    package static let maximumBytes = 1 << 20

    /// The root of a document, or nil with a fault when the text is empty, too large or not YAML.
    ///
    /// The parser's messages are constants without content; its excerpt of the text is not used, because it may contain
    /// a secret.
    package static func parse(_ text: String, faults: FaultCollector) -> YAMLValue? {
        guard text.utf8.count <= maximumBytes else {
            faults.report(line: nil, key: "", "is larger than \(maximumBytes) bytes")
            return nil
        }
        do {
            let root = try Parser(yaml: text, encoding: .utf8).singleRoot()
            let value = root.map { YAMLValue(node: $0, path: "", line: $0.mark?.line ?? 1, faults: faults) }
            if let value, !value.isNull { return value }
            faults.report(line: nil, key: "", "is empty")
        } catch let error as YamlError {
            report(error, in: text, faults: faults)
        } catch {
            faults.report(line: nil, key: "", "is not YAML")
        }
        return nil
    }

    private static func report(_ error: YamlError, in text: String, faults: FaultCollector) {
        switch error {
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            let start = context.map { "\($0.text) that begins in line \($0.mark.line), " } ?? ""
            let advice = YAMLAdvice.of(problem, line: mark.line, column: mark.column, in: text).map { "; \($0)" } ?? ""
            faults.report(line: mark.line, key: "", "is not YAML: \(start)\(problem)\(advice)")
        case .reader(let problem, let offset, _, _):
            let line = offset.map { text.prefix($0).count(where: \.isNewline) + 1 }
            faults.report(line: line, key: "", "is not YAML: \(problem)")
        case .duplicatedKeysInMapping(let duplicates, let context):
            let names = duplicates.filter { YAMLValue.isPrintable($0) || $0 == "<<" }
            faults.report(
                line: context.mark.line,
                key: names.first ?? "",
                "is given more than once in one mapping, here for the first time; keep one"
            )
        default:
            faults.report(line: nil, key: "", "is not YAML")
        }
    }
}

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
