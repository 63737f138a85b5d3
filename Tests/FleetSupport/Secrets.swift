// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Finds secrets in output: phone numbers, codes and other texts.
package struct Secrets {
    private let numbers: [Int: Set<UInt64>]
    private var codes: Set<[UInt8]>
    private let others: [[UInt8]]

    /// Sets the phone numbers in E.164, the codes and the other texts to find.
    ///
    /// At most a thousand codes are used: with more, some random number of six digits in a log would equal a code.
    package init(numbers: Set<String>, codes: Set<String>, others: [String]) {
        self.numbers = Dictionary(grouping: numbers.map { $0.utf8.dropFirst() }, by: \.count).mapValues { digits in
            Set(digits.compactMap { UInt64(Substring($0)) })
        }
        self.codes = Set(codes.sorted().prefix(1000).map { Array($0.utf8) })
        self.others = others.map { Array($0.utf8) }
    }

    package func shown(in text: String) -> [String] {
        shown(in: Array(text.utf8))
    }

    /// The secrets in a table's text, without codes that end in 000, since milliseconds look like them.
    package func shown(inTable table: String) -> [String] {
        var secrets = self
        secrets.codes = codes.filter { !$0.suffix(3).allSatisfy { $0 == UInt8(ascii: "0") } }
        return secrets.shown(in: table)
    }

    /// The secrets in a worker's log, without codes in `worker.stats`, whose figures can equal one by chance.
    package func shown(inLog log: String) -> [String] {
        var withoutCodes = self
        withoutCodes.codes = []
        let figures = Array(#""event":"worker.stats""#.utf8)
        return log.utf8.split(separator: UInt8(ascii: "\n")).flatMap { line in
            let line = Array(line)
            return (line.holds(figures) ? withoutCodes : self).shown(in: line)
        }
    }

    /// The secrets in a text.
    ///
    /// A number counts wherever its digits occur. A code counts only when it is not part of a longer word, since the
    /// digits of a time or an id may equal it by chance.
    package func shown(in text: some Collection<UInt8>) -> [String] {
        let text = Array(text)
        var shown: [String] = []
        for other in others where text.holds(other) { shown.append("a secret") }
        for word in text.split(whereSeparator: { !$0.isWordByte }) {
            if isCode(word) { shown.append("a code in \(String(decoding: word, as: UTF8.self))") }
            for digits in word.split(whereSeparator: { !$0.isDigit }) where showsNumber(digits) {
                shown.append("a number in \(String(decoding: word, as: UTF8.self))")
            }
        }
        return shown
    }

    private func isCode(_ word: ArraySlice<UInt8>) -> Bool {
        guard let first = word.firstIndex(where: { !$0.isPunctuation }) else { return false }
        let last = word.lastIndex { !$0.isPunctuation } ?? first
        return codes.contains(Array(word[first...last]))
    }

    private func showsNumber(_ digits: ArraySlice<UInt8>) -> Bool {
        numbers.contains { length, values in
            guard digits.count >= length else { return false }
            return (digits.startIndex...digits.endIndex - length).contains { start in
                values.contains(digits[start..<start + length].reduce(0) { $0 &* 10 &+ UInt64($1 &- 48) })
            }
        }
    }
}

extension [UInt8] {
    /// Returns true when this text contains another one.
    ///
    /// The standard library's `contains` is too slow for the million events of a long run.
    fileprivate func holds(_ text: [UInt8]) -> Bool {
        withUnsafeBytes { whole in
            text.withUnsafeBytes { part in
                guard var place = whole.baseAddress, let wanted = part.baseAddress else { return false }
                var places = whole.count - part.count + 1
                while places > 0, let found = memchr(place, Int32(part[0]), places) {
                    if memcmp(found, wanted, part.count) == 0 { return true }
                    places -= UnsafeRawPointer(found) - place + 1
                    place = UnsafeRawPointer(found) + 1
                }
                return false
            }
        }
    }
}

extension UInt8 {
    /// True for the punctuation of times, ids and decimal numbers.
    fileprivate var isPunctuation: Bool {
        switch self {
        case UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "-"), UInt8(ascii: "+"): true
        default: false
        }
    }

    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    fileprivate var isWordByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...:
            true
        default: isPunctuation
        }
    }
}
