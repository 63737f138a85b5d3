// SPDX-License-Identifier: Apache-2.0

/// Finds web addresses in a mail.
enum MailLinks {
    /// The maximum number of links shown.
    private static let capacity = 50

    /// The addresses of the text and of the HTML's `href` attributes, in this order, without duplicates.
    static func links(text: String?, html: String?) -> [String] {
        var seen: Set<String> = []
        let all = addresses(in: text ?? "").map { String($0) } + references(in: html ?? "")
        return Array(all.filter { seen.insert($0).inserted }.prefix(capacity))
    }

    /// The text without its web addresses.
    static func removed(from text: String) -> String {
        var result = ""
        var position = text.startIndex
        for address in addresses(in: text) {
            result += text[position..<address.startIndex]
            position = address.endIndex
        }
        return result + text[position...]
    }

    /// The readable text of HTML, precise enough to find a code in it: no tags, no style, the common entities.
    static func readableText(of html: String) -> String {
        var result = ""
        var rest = html[...]
        while let open = rest.firstIndex(of: "<") {
            result += rest[..<open]
            let tag = rest[open...]
            guard let close = tag.firstIndex(of: ">") else { return unescaped(result) }
            rest = tag[tag.index(after: close)...]
            let name = tag.dropFirst().prefix { $0.isLetter }.lowercased()
            if let element = ["style", "script", "title"].first(where: { $0 == name }) {
                rest = rest.firstRange(of: "</\(element)").map { rest[$0.lowerBound...] } ?? ""
            }
            result += " "
        }
        return unescaped(result + rest)
    }

    /// The addresses from `http://` or `https://` to white space or a bracket, without the punctuation of the sentence
    /// around.
    private static func addresses(in text: String) -> [Substring] {
        var found: [Substring] = []
        var rest = text[...]
        while let scheme = rest.firstRange(of: "://") {
            let before = rest[..<scheme.lowerBound]
            let name = before.hasSuffix("https") ? "https" : before.hasSuffix("http") ? "http" : nil
            let tail = rest[scheme.upperBound...].prefix { !$0.isWhitespace && !"<>\"'`".contains($0) }
            rest = rest[tail.endIndex...]
            guard let name, !tail.isEmpty else { continue }
            var end = tail.endIndex
            while end > tail.startIndex, ".,;:!?)]}".contains(text[text.index(before: end)]) {
                end = text.index(before: end)
            }
            found.append(text[text.index(scheme.lowerBound, offsetBy: -name.count)..<end])
        }
        return found
    }

    private static func references(in html: String) -> [String] {
        var found: [String] = []
        var rest = html[...]
        while let attribute = rest.firstRange(of: "href=") {
            rest = rest[attribute.upperBound...]
            guard let quote = rest.first, quote == "\"" || quote == "'" else { continue }
            let value = rest.dropFirst().prefix { $0 != quote }
            rest = rest[value.endIndex...]
            let address = unescaped(String(value))
            if address.hasPrefix("http://") || address.hasPrefix("https://") { found.append(address) }
        }
        return found
    }

    private static func unescaped(_ text: String) -> String {
        guard text.contains("&") else { return text }
        let entities = [
            ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&nbsp;", " "), ("&#61;", "="),
            ("&amp;", "&"),
        ]
        return entities.reduce(text) { text, entity in
            text.split(separator: entity.0, omittingEmptySubsequences: false).joined(separator: entity.1)
        }
    }
}
