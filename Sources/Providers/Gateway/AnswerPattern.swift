// SPDX-License-Identifier: Apache-2.0

import CPatterns

/// A regular expression that an answer's text is searched for, such as `^ERR` or `ID: ([0-9]+)`.
///
/// RE2 searches in linear time, whatever the expression and the answer are: neither an operator nor a gateway can hold up
/// a worker. In return it knows no look-around and no back-references.
package final class AnswerPattern: Sendable {
    /// So much of an answer is searched, in bytes.
    private static let longestText = 4096

    // SAFETY: RE2 may be searched in several threads at once; only `deinit` changes it, when nobody else has it.
    private nonisolated(unsafe) let pattern: OpaquePointer

    /// Nil for what is no expression.
    package init?(_ text: String) {
        guard !text.isEmpty else { return nil }
        let expression = Array(Self.withNamedGroups(text).utf8)
        let compiled = expression.withUnsafeBytes { bytes in
            courier_pattern_new(bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
        }
        guard let compiled else { return nil }
        pattern = compiled
    }

    deinit {
        courier_pattern_free(pattern)
    }

    /// The expression with named groups as `(?P<name>…)`: RE2 before 2023 knows no other spelling.
    private static func withNamedGroups(_ text: String) -> String {
        let parts = text.split(separator: "(?<", omittingEmptySubsequences: false)
        return parts.dropFirst().reduce(String(parts[0])) { start, rest in
            let isEscaped = start.reversed().prefix { $0 == "\\" }.count % 2 == 1
            return start + (isEscaped ? "(?<" : "(?P<") + rest
        }
    }

    func matches(_ text: String) -> Bool {
        search(text) != nil
    }

    /// What the first group matched, or without a group the whole expression.
    func word(in text: String) -> String? {
        switch search(text) {
        case .word(let word): word
        case .none, .noWord: nil
        }
    }

    private enum Match {
        case word(String)

        /// The first group has no part in the match.
        case noWord
    }

    private func search(_ text: String) -> Match? {
        let bytes = Array(text.utf8.prefix(Self.longestText))
        var (start, end) = (0, 0)
        let result = bytes.withUnsafeBytes { bytes in
            // An empty array has no address, and an empty text has one all the same.
            guard let base = bytes.baseAddress else { return courier_pattern_search(pattern, "", 0, &start, &end) }
            return courier_pattern_search(pattern, base.assumingMemoryBound(to: CChar.self), bytes.count, &start, &end)
        }
        switch result {
        case 0: return nil
        case 1: return .word(String(decoding: bytes[start..<end], as: UTF8.self))
        default: return .noWord
        }
    }
}
