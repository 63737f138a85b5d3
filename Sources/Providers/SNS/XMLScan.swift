// SPDX-License-Identifier: Apache-2.0

/// Finds the text of elements in XML by their tags; safe for any bytes.
///
/// It is no parser: it searches for one element inside another. Free text is escaped in these answers, so `<` always
/// begins a tag, a comment or a CDATA section. A name matches with any prefix or none, since each document chooses its
/// own.
struct XMLScan {
    private let bytes: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        self.bytes = bytes[...]
    }

    /// The text of the first element at a path of names, each the first of its name inside the one before.
    ///
    /// Nil when it is missing, not closed, not UTF-8, or contains elements.
    func text(in path: [String]) -> String? {
        var content = bytes
        for name in path {
            guard let inner = Self.content(of: Array(name.utf8), in: content) else { return nil }
            content = inner
        }
        return Self.text(content)
    }

    private enum Markup {
        case start(name: ArraySlice<UInt8>, isEmpty: Bool)
        case end(name: ArraySlice<UInt8>)

        /// A comment, a CDATA section, a declaration or an instruction.
        case other
    }

    /// The bytes between the first start tag of a name and the matching end tag.
    private static func content(of name: [UInt8], in bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        var rest = bytes
        var start: Int?
        while let open = rest.firstIndex(of: UInt8(ascii: "<")) {
            guard let (markup, end) = markup(bytes[open...]) else { return nil }
            rest = bytes[end...]
            switch markup {
            case .start(let found, let isEmpty) where start == nil && isSame(found, name):
                if isEmpty { return bytes[end..<end] }
                start = end
            case .end(let found) where isSame(found, name):
                if let start { return bytes[start..<open] }
            default: break
            }
        }
        return nil
    }

    /// The markup that begins at `<`, and its end; nil where it is not closed.
    private static func markup(_ bytes: ArraySlice<UInt8>) -> (Markup, end: Int)? {
        for (opening, closing) in sections where bytes.starts(with: opening) {
            return bytes.firstRange(of: closing).map { (.other, $0.upperBound) }
        }
        guard let close = bytes.firstIndex(of: UInt8(ascii: ">")) else { return nil }
        let inside = bytes[(bytes.startIndex + 1)..<close]
        let isEnd = inside.first == UInt8(ascii: "/")
        let name = inside.dropFirst(isEnd ? 1 : 0).prefix { $0 > 0x20 && $0 != UInt8(ascii: "/") }
        let markup: Markup = isEnd ? .end(name: name) : .start(name: name, isEmpty: inside.last == UInt8(ascii: "/"))
        return (markup, close + 1)
    }

    private static let sections: [(opening: [UInt8], closing: [UInt8])] = [
        ("<!--", "-->"), ("<![CDATA[", "]]>"),
    ].map { (Array($0.0.utf8), Array($0.1.utf8)) }

    private static let cdata = Array("<![CDATA[".utf8)

    /// True when a tag has the name, with any prefix.
    private static func isSame(_ tag: ArraySlice<UInt8>, _ name: [UInt8]) -> Bool {
        let colon = tag.firstIndex(of: UInt8(ascii: ":"))
        return tag.elementsEqual(name) || colon.map { tag[($0 + 1)...].elementsEqual(name) } == true
    }

    /// The text of an element: a CDATA section verbatim, anything else with its entities decoded.
    private static func text(_ content: ArraySlice<UInt8>) -> String? {
        let blank = { (byte: UInt8) in byte <= 0x20 }
        let inner = content.drop(while: blank)
        let end = inner.lastIndex { !blank($0) }.map { $0 + 1 } ?? inner.startIndex
        let trimmed = inner[..<end]
        if trimmed.starts(with: cdata), trimmed.suffix(3).elementsEqual("]]>".utf8), trimmed.count >= cdata.count + 3 {
            return String(validating: trimmed.dropFirst(cdata.count).dropLast(3), as: UTF8.self)
        }
        guard !trimmed.contains(UInt8(ascii: "<")) else { return nil }
        return String(validating: trimmed, as: UTF8.self).map(unescaped)
    }

    private static func unescaped(_ text: String) -> String {
        guard text.contains("&") else { return text }
        let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")]
        return entities.reduce(text) { $0.replacing($1.0, with: $1.1) }
    }
}
