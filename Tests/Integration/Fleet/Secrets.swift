// SPDX-License-Identifier: Apache-2.0

/// What nobody but its owner may see.
struct Secrets {
    private let numbers: Set<[UInt8]>
    private let codes: Set<[UInt8]>
    private let others: [String]

    init(numbers: Set<String>, codes: Set<String>, others: [String]) {
        self.numbers = Set(numbers.map { Array($0.utf8.dropFirst()) })
        self.codes = Set(codes.map { Array($0.utf8) })
        self.others = others
    }

    /// The secrets that a text shows.
    ///
    /// A number counts wherever its digits stand; a code where it stands alone, since its digits within a time or an id
    /// are chance.
    func shown(in text: String) -> [String] {
        var shown = others.filter { text.contains($0) }
        let lengths = Set(numbers.map(\.count))
        for word in text.utf8.split(whereSeparator: { !$0.isWordByte }) {
            let word = Array(word)
            let bare = word.drop { $0.isPunctuation }.reversed().drop { $0.isPunctuation }.reversed()
            if codes.contains(Array(bare)) { shown.append("a code in \(String(decoding: word, as: UTF8.self))") }
            for length in lengths where word.count >= length {
                for start in 0...(word.count - length) where numbers.contains(Array(word[start..<start + length])) {
                    shown.append("a number in \(String(decoding: word, as: UTF8.self))")
                }
            }
        }
        return shown
    }
}

extension UInt8 {
    /// What times, ids and decimal numbers are written with besides letters and digits.
    fileprivate var isPunctuation: Bool {
        [UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "-"), UInt8(ascii: "+")].contains(self)
    }

    fileprivate var isWordByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...:
            true
        default: isPunctuation
        }
    }
}
