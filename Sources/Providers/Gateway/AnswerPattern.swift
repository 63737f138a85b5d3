// SPDX-License-Identifier: Apache-2.0

import CPatterns

/// A regular expression for the text of an answer, such as `^ERR` or `ID: ([0-9]+)`.
///
/// RE2 searches in linear time, whatever the expression and the answer are: neither a setting nor a gateway can block a
/// worker. In return it has no look-around and no back-references.
package final class AnswerPattern: Sendable {
    /// The number of bytes of an answer that are searched.
    private static let longestText = 4096

    // SAFETY: RE2 may be searched by several threads at once; only `deinit` changes it, when no other reference exists.
    private nonisolated(unsafe) let pattern: OpaquePointer

    /// Compiles an expression; nil when it is empty or invalid.
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

    /// The expression with named groups as `(?P<name>…)`, the only spelling that RE2 before 2023 knows.
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

    /// The match of the first group, or of the whole expression when it has no group.
    func word(in text: String) -> String? {
        switch search(text) {
        case .word(let word): word
        case .none, .noWord: nil
        }
    }

    private enum Match {
        case word(String)

        /// The expression matched, but its first group took no part.
        case noWord
    }

    private func search(_ text: String) -> Match? {
        let bytes = Array(text.utf8.prefix(Self.longestText))
        var (start, end) = (0, 0)
        let result = bytes.withUnsafeBytes { bytes in
            // The base address of an empty array may be nil: search an empty C string instead.
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
