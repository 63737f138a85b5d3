// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// Decodes transfer encodings (RFC 2045 section 6); invalid sequences are kept literally.
enum TransferEncoding {
    static func decoded(_ bytes: ArraySlice<UInt8>, encoding: String) -> [UInt8] {
        switch encoding {
        case "base64": base64(bytes)
        case "quoted-printable": quotedPrintable(bytes)
        default: Array(bytes)
        }
    }

    static func base64(_ bytes: some Collection<UInt8>) -> [UInt8] {
        Data(base64Encoded: Data(bytes), options: .ignoreUnknownCharacters).map { Array($0) } ?? []
    }

    /// Decodes quoted-printable, in which an equals sign at a line's end joins it to the next.
    static func quotedPrintable(_ bytes: some Collection<UInt8>, isHeader: Bool = false) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var rest = Array(bytes)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "="), let escaped = value(rest.prefix(2)) {
                result.append(escaped)
                rest = rest.dropFirst(2)
            } else if byte == UInt8(ascii: "="), rest.first == 13 || rest.first == 10 {
                rest = rest.dropFirst(rest.starts(with: [13, 10]) ? 2 : 1)
            } else if isHeader, byte == UInt8(ascii: "_") {
                result.append(32)
            } else {
                result.append(byte)
            }
        }
        return result
    }

    private static func value(_ digits: ArraySlice<UInt8>) -> UInt8? {
        let nibbles = digits.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        return nibbles.count == 2 ? UInt8(nibbles[0] << 4 | nibbles[1]) : nil
    }
}

/// Decodes bytes to text: one-byte charsets as ISO 8859-1, everything else as UTF-8.
enum Charset {
    static func text(_ bytes: [UInt8], charset: String) -> String {
        switch charset.lowercased() {
        case "iso-8859-1", "iso-8859-15", "latin1", "windows-1252":
            String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        default:
            String(decoding: bytes, as: UTF8.self)
        }
    }
}

/// Decodes words like `=?utf-8?B?…?=` in a header (RFC 2047).
enum EncodedWords {
    static func decoded(_ text: String) -> String {
        var result = ""
        /// The bytes of adjacent words: a character may be split between two.
        var pending: (bytes: [UInt8], charset: String)?
        func flush() {
            if let (bytes, charset) = pending { result += Charset.text(bytes, charset: charset) }
            pending = nil
        }
        var rest = text[...]
        while let start = rest.firstRange(of: "=?") {
            let plain = rest[..<start.lowerBound]
            guard let word = EncodedWord(rest[start.lowerBound...]) else {
                flush()
                result += rest[..<start.upperBound]
                rest = rest[start.upperBound...]
                continue
            }
            // White space between two encoded words is not shown.
            if pending == nil || !plain.allSatisfy(\.isWhitespace) || pending?.charset != word.charset {
                let joins = pending != nil && plain.allSatisfy(\.isWhitespace)
                flush()
                if !joins { result += plain }
                pending = ([], word.charset)
            }
            pending?.bytes += word.bytes
            rest = rest[word.end...]
        }
        flush()
        return result + rest
    }
}

private struct EncodedWord {
    let charset: String
    let bytes: [UInt8]
    let end: String.Index

    /// Parses the word at the beginning of the text.
    init?(_ text: Substring) {
        let parts = text.dropFirst(2).split(separator: "?", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4, parts[3].hasPrefix("="), !parts[0].contains(where: \.isWhitespace) else { return nil }
        switch parts[1].lowercased() {
        case "b": bytes = TransferEncoding.base64(parts[2].utf8)
        case "q": bytes = TransferEncoding.quotedPrintable(parts[2].utf8, isHeader: true)
        default: return nil
        }
        charset = parts[0].prefix { $0 != "*" }.lowercased()
        end = text.index(after: parts[3].startIndex)
    }
}
