// SPDX-License-Identifier: Apache-2.0

/// Values as operators write them: with what editors, shells and stores of secrets put around them.
extension StringProtocol {
    /// The text without white space, line ends and byte order marks at both ends.
    ///
    /// `echo` ends a file with a line end, Windows begins one with a mark, and a copied value brings blanks along; no
    /// provider takes them.
    var trimmed: String {
        let scalars = unicodeScalars.drop(while: \.isAround)
        let end = scalars.lastIndex { !$0.isAround }.map(scalars.index(after:)) ?? scalars.startIndex
        return String(String.UnicodeScalarView(scalars[..<end]))
    }

    /// The text between quotes around the whole; nil where there are none.
    ///
    /// Docker's `--env-file` and Kubernetes' secrets keep the quotes that a shell takes away.
    var unquoted: String? {
        guard count >= 2, let first, let last, let end = closingQuotes[first], last == end else { return nil }
        return dropFirst().dropLast().trimmed
    }
}

private let closingQuotes: [Character: Character] = ["\"": "\"", "'": "'", "“": "”", "‘": "’"]

extension Unicode.Scalar {
    /// True for white space and marks that may surround a value without being part of it.
    fileprivate var isAround: Bool { properties.isWhitespace || self == "\u{feff}" || self == "\u{200b}" }
}

/// The forms of a secret, by what it may have inside.
enum SecretForm {
    /// A token or key, which has no white space.
    case token

    /// A line with blanks in it: a password that people chose, or the value of a header.
    case phrase

    /// Several lines: PEM, or a list with an element on each line.
    case lines

    /// The secret without what stands around it, and with one kind of line ends.
    ///
    /// A variable often has PEM on one line, with `\n` for each line end.
    func read(_ text: String) -> String {
        guard self == .lines else { return text.trimmed }
        let lines = text.trimmed.replacing("\r\n", with: "\n")
        return lines.hasPrefix("-----BEGIN ") ? lines.replacing("\\n", with: "\n") : lines
    }

    /// The flaw of a secret, in words without its content; nil where there is none.
    func flaw(of secret: String) -> String? {
        if secret.unquoted != nil { return "quotes around it, which would be part of it" }
        let scalars = secret.unicodeScalars
        if self != .lines, secret.contains(where: \.isNewline) { return "line ends inside it" }
        if self == .token, scalars.contains(where: \.properties.isWhitespace) { return "white space inside it" }
        let isControl = { (scalar: Unicode.Scalar) in
            scalar.properties.generalCategory == .control && !scalar.properties.isWhitespace
        }
        return scalars.contains(where: isControl) ? "control characters inside it" : nil
    }
}
