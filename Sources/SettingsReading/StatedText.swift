// SPDX-License-Identifier: Apache-2.0

/// Cleans values of the wrapping that editors, shells and secret stores add.
extension StringProtocol {
    /// The text without white space, line ends and byte order marks at both ends.
    ///
    /// `echo` adds a line end, Windows editors add a byte order mark, and a copied value has blanks; no provider
    /// accepts them.
    package var trimmed: String {
        let scalars = unicodeScalars.drop(while: \.isAround)
        let end = scalars.lastIndex { !$0.isAround }.map(scalars.index(after:)) ?? scalars.startIndex
        return String(String.UnicodeScalarView(scalars[..<end]))
    }

    /// The text without the quotes around the whole of it; nil if there are none.
    ///
    /// Docker's `--env-file` and Kubernetes' secrets keep quotes that a shell would remove.
    package var unquoted: String? {
        guard count >= 2, let first, let last, let end = closingQuotes[first], last == end else { return nil }
        return dropFirst().dropLast().trimmed
    }
}

private let closingQuotes: [Character: Character] = ["\"": "\"", "'": "'", "“": "”", "‘": "’"]

extension String {
    /// True when the text contains a variable in the syntax of a shell, Compose, Kubernetes, Helm or Spring.
    package var hasPlaceholder: Bool {
        contains(/\$\{[A-Za-z_][^{}]*\}|\$\([A-Za-z_][A-Za-z0-9_.]*\)|\{\{[^{}]*\}\}/)
    }
}

extension Unicode.Scalar {
    /// True for white space and marks that may surround a value without belonging to it.
    fileprivate var isAround: Bool { properties.isWhitespace || self == "\u{feff}" || self == "\u{200b}" }
}

/// The forms of a secret, by the white space allowed inside it.
package enum SecretForm {
    /// A token or key, which has no white space.
    case token

    /// A line that may contain blanks: a password that a person chose, or the value of a header.
    case phrase

    /// Several lines: PEM, or a list with one element a line.
    case lines

    /// The secret trimmed and with LF line ends.
    ///
    /// An environment variable often has PEM on one line, with `\n` for each line end.
    package func read(_ text: String) -> String {
        guard self == .lines else { return text.trimmed }
        let lines = text.trimmed.replacing("\r\n", with: "\n")
        return lines.hasPrefix("-----BEGIN ") ? lines.replacing("\\n", with: "\n") : lines
    }

    /// The flaw of a secret, without its content; nil where there is none.
    package func flaw(of secret: String) -> String? {
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
