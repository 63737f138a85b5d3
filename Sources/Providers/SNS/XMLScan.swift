// SPDX-License-Identifier: Apache-2.0

/// Finds the text of elements in XML of Amazon's kind, and is total over any bytes.
///
/// No parser: it looks for one element inside another by their tags. That is enough because in these answers free text
/// stands escaped, so `<` always begins a tag. Entities are left as they are.
struct XMLScan {
    private let bytes: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        self.bytes = bytes[...]
    }

    /// The text of the first element at a path of names, each the first of its name inside the one before; nil when it
    /// is not there, not closed, no UTF-8, or has elements of its own.
    func text(in path: [String]) -> String? {
        var content = bytes
        for name in path {
            guard let inner = Self.content(of: name, in: content) else { return nil }
            content = inner
        }
        guard !content.contains(UInt8(ascii: "<")) else { return nil }
        return String(validating: content, as: UTF8.self)
    }

    /// What stands between the first start tag of a name and the end tag after it.
    private static func content(of name: String, in bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        var rest = bytes
        while let tag = rest.firstRange(of: Array("<\(name)".utf8)) {
            rest = rest[tag.upperBound...]
            // A longer name, such as `ErrorResponse` for `Error`, is another element.
            guard let after = rest.first, after == UInt8(ascii: ">") || after == UInt8(ascii: " ") else { continue }
            guard let start = rest.firstIndex(of: UInt8(ascii: ">")) else { return nil }
            let content = rest[(start + 1)...]
            return content.firstRange(of: Array("</\(name)>".utf8)).map { content[..<$0.lowerBound] }
        }
        return nil
    }
}
