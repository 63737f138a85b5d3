// SPDX-License-Identifier: Apache-2.0

/// Parses XML strictly enough to check that a filled template is well formed (XML 1.0), and returns its values.
///
/// References to entities of a document type are faults: a message for a gateway needs none.
struct WellFormedXML {
    private var rest: Substring.UnicodeScalarView
    private var open: [String] = []
    private var hasRoot = false
    private var texts: [String] = []

    private struct Malformed: Error {}

    /// The texts between tags and the values of attributes, with entities resolved; nil when the XML is not well
    /// formed.
    ///
    /// CDATA sections, comments and instructions are skipped: their content cannot be escaped.
    static func values(_ text: String) -> [String]? {
        var reader = WellFormedXML(rest: Substring(text).unicodeScalars)
        do {
            try reader.readDocument()
            return reader.texts
        } catch {
            return nil
        }
    }

    private init(rest: Substring.UnicodeScalarView) {
        self.rest = rest
    }

    private mutating func readDocument() throws {
        while let next = rest.first {
            if next == "<" { try readMarkup() } else { try readText() }
        }
        guard hasRoot, open.isEmpty else { throw Malformed() }
    }

    private mutating func readMarkup() throws {
        if take("<!--") {
            guard !(try takeUntil("-->")).contains("--") else { throw Malformed() }
        } else if take("<![CDATA[") {
            guard !open.isEmpty else { throw Malformed() }
            _ = try takeUntil("]]>")
        } else if take("<?") {
            _ = try takeUntil("?>")
        } else if take("<!DOCTYPE") {
            guard !hasRoot else { throw Malformed() }
            _ = try takeUntil(">")
        } else if take("</") {
            let name = try takeName()
            skipBlanks()
            guard take(">"), open.popLast() == name else { throw Malformed() }
        } else {
            rest.removeFirst()
            try readTag()
        }
    }

    private mutating func readTag() throws {
        let name = try takeName()
        guard !open.isEmpty || !hasRoot else { throw Malformed() }
        hasRoot = true
        var attributes: Set<String> = []
        while true {
            let hasBlank = skipBlanks()
            if take("/>") { return }
            if take(">") { return open.append(name) }
            guard hasBlank, attributes.insert(try takeName()).inserted else { throw Malformed() }
            skipBlanks()
            guard take("=") else { throw Malformed() }
            skipBlanks()
            guard let quote = rest.popFirst(), quote == "\"" || quote == "'" else { throw Malformed() }
            let value = try takeUntil(String(quote))
            guard !value.unicodeScalars.contains("<") else { throw Malformed() }
            texts.append(try Self.resolved(value))
        }
    }

    private mutating func readText() throws {
        let text = rest.prefix { $0 != "<" }
        rest = rest[text.endIndex...]
        let value = try Self.resolved(String(text))
        guard !String(text).contains("]]>") else { throw Malformed() }
        if open.isEmpty {
            guard text.allSatisfy({ Self.isBlank($0) || $0 == "\u{FEFF}" }) else { throw Malformed() }
        } else {
            texts.append(value)
        }
    }

    // MARK: - Words

    private mutating func take(_ word: String) -> Bool {
        guard rest.starts(with: word.unicodeScalars) else { return false }
        rest.removeFirst(word.unicodeScalars.count)
        return true
    }

    private mutating func takeUntil(_ end: String) throws -> String {
        var taken = String.UnicodeScalarView()
        while !rest.isEmpty {
            if take(end) { return String(taken) }
            taken.append(rest.removeFirst())
        }
        throw Malformed()
    }

    private mutating func takeName() throws -> String {
        let name = rest.prefix { scalar in
            scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                || "_:-.".unicodeScalars.contains(scalar)
        }
        guard let first = name.first, first.properties.isAlphabetic || first == "_" || first == ":" else {
            throw Malformed()
        }
        rest = rest[name.endIndex...]
        return String(name)
    }

    @discardableResult private mutating func skipBlanks() -> Bool {
        let blanks = rest.prefix(while: Self.isBlank)
        rest = rest[blanks.endIndex...]
        return !blanks.isEmpty
    }

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        [" ", "\t", "\r", "\n"].contains(scalar)
    }

    private static let entities = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"]

    /// A text with its entities resolved; throws for an unknown entity and for a character that XML does not allow.
    private static func resolved(_ text: String) throws -> String {
        var resolved = ""
        var rest = Substring(text).unicodeScalars
        while let scalar = rest.popFirst() {
            guard scalar == "&" else {
                guard isCharacter(scalar) else { throw Malformed() }
                resolved.unicodeScalars.append(scalar)
                continue
            }
            guard let end = rest.firstIndex(of: ";") else { throw Malformed() }
            let name = String(rest[..<end])
            rest = rest[rest.index(after: end)...]
            if let entity = entities[name] {
                resolved += entity
            } else {
                let digits = name.hasPrefix("#x") ? name.dropFirst(2) : name.dropFirst()
                let code = name.hasPrefix("#") ? UInt32(digits, radix: name.hasPrefix("#x") ? 16 : 10) : nil
                guard let scalar = code.flatMap(Unicode.Scalar.init), isCharacter(scalar) else { throw Malformed() }
                resolved.unicodeScalars.append(scalar)
            }
        }
        return resolved
    }

    private static func isCharacter(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x9, 0xA, 0xD, 0x20...0xD7FF, 0xE000...0xFFFD, 0x10000...0x10FFFF: true
        default: false
        }
    }
}
