// SPDX-License-Identifier: Apache-2.0

/// Turns the YAML parser's message into the most likely fix.
enum YAMLAdvice {
    /// The fix for a problem at a line and column, both counted from 1; nil when the parser's words are clear enough.
    ///
    /// It names only marks of YAML and never quotes the text, which may be a secret.
    static func of(_ problem: String, line: Int, column: Int, in text: String) -> String? {
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let faulty = lines.indices.contains(line - 1) ? lines[line - 1] : ""
        if faulty.prefix(while: \.isWhitespace).contains("\t") { return "a tab indents this line: use spaces" }
        if faulty.unicodeScalars.first == "\u{feff}" {
            return "a byte order mark begins this line, as when files are joined: remove it"
        }
        switch problem {
        case "found character that cannot start any token":
            let mark = faulty.dropFirst(column - 1).first
            return mark.map { forbidden.contains($0) } == true ? "a value cannot begin with @, ` or %: quote it" : nil
        case "found undefined alias":
            return "*name stands for a value that an earlier line marks with &name; quote a value that begins with *"
        case "mapping values are not allowed in this context":
            return "a value with a colon and a space in it needs quotes; else check this line's indentation"
                + " and the colon after the key above"
        case "did not find expected key", "did not find expected '-' indicator":
            return "check this line's indentation and the quotes above it"
        case "found unexpected end of stream": return "a quotation mark is not closed"
        case "did not find expected ',' or '}'", "did not find expected ',' or ']'":
            return "a comma or a closing bracket is missing before this line or in it"
        case "found unknown escape character": return "write \\\\ for a backslash, or use single quotes"
        case "but found another document": return "a file is one document: remove the line ---"
        default: return nil
        }
    }

    private static let forbidden: Set<Character> = ["@", "`", "%"]
}
