// SPDX-License-Identifier: Apache-2.0

/// The parts of a mail that an inbox shows; parsing never fails.
struct ParsedMail: Sendable {
    let subject: String
    /// The decoded `From` header.
    let from: String?
    /// The `Message-ID` without angle brackets.
    let messageID: String?
    let text: String?
    let html: String?
    let links: [String]
    let code: String?

    init(_ bytes: some Collection<UInt8>) {
        let root = MailPart(Array(bytes))
        let leaves = root.leaves()
        let text = leaves.first { $0.type == "text/plain" && !$0.isAttachment }?.text
        let html = leaves.first { $0.type == "text/html" && !$0.isAttachment }?.text
        subject = root.header("subject").map { EncodedWords.decoded($0) } ?? ""
        from = root.header("from").map { EncodedWords.decoded($0) }
        messageID = root.header("message-id").map { String($0.drop { $0 == "<" }.prefix { $0 != ">" }) }
        self.text = text
        self.html = html
        let readable = html.map { MailLinks.readableText(of: $0) }
        links = MailLinks.links(text: text, html: html)
        // Links are removed first, since the digits in a link's token are no code.
        code =
            text.flatMap { CodeFinder.code(in: MailLinks.removed(from: $0)) }
            ?? readable.flatMap { CodeFinder.code(in: MailLinks.removed(from: $0)) }
    }
}

/// One part of a mail: its headers, and either further parts or a body (RFC 2045, 2046).
struct MailPart {
    /// The maximum depth of nested parts, and the maximum number of parts in one.
    private static let depth = 8
    private static let parts = 50

    private let headers: [String: String]
    private let body: ArraySlice<UInt8>
    private let contentType: MailHeaderValue

    init(_ bytes: [UInt8]) {
        self.init(bytes[...])
    }

    private init(_ bytes: ArraySlice<UInt8>) {
        (headers, body) = Self.split(bytes)
        contentType = MailHeaderValue(headers["content-type"] ?? "text/plain")
    }

    /// The content type in lower case.
    var type: String { contentType.value }

    var isAttachment: Bool { MailHeaderValue(headers["content-disposition"] ?? "").value == "attachment" }

    /// The first header of this name, unfolded; `name` must be in lower case.
    func header(_ name: String) -> String? { headers[name] }

    /// The parts without further parts, in order.
    func leaves(depth: Int = MailPart.depth) -> [MailPart] {
        guard type.hasPrefix("multipart/"), let boundary = contentType.parameters["boundary"], !boundary.isEmpty else {
            return [self]
        }
        guard depth > 0 else { return [] }
        return parts(between: boundary).flatMap { $0.leaves(depth: depth - 1) }
    }

    /// The body as text, with LF line ends.
    var text: String {
        let encoding = headers["content-transfer-encoding"].map { MailHeaderValue($0).value }
        let bytes = TransferEncoding.decoded(body, encoding: encoding ?? "7bit")
        let charset = contentType.parameters["charset"]?.lowercased() ?? "utf-8"
        return Charset.text(bytes, charset: charset).split(separator: "\r\n", omittingEmptySubsequences: false)
            .joined(separator: "\n")
    }

    private func parts(between boundary: String) -> [MailPart] {
        let delimiter = Array("--\(boundary)".utf8)
        var parts: [MailPart] = []
        var start: Int?
        for line in MailLines(body) where body[line.range].starts(with: delimiter) {
            let rest = body[line.range].dropFirst(delimiter.count)
            let isEnd = rest.starts(with: Array("--".utf8))
            guard isEnd || rest.allSatisfy({ $0 == 32 || $0 == 9 }) else { continue }
            if let start {
                // The line end before a delimiter belongs to the delimiter.
                parts.append(MailPart(body[start..<max(start, line.endOfPrevious)]))
            }
            if isEnd || parts.count >= Self.parts { return parts }
            start = line.startOfNext
        }
        if let start { parts.append(MailPart(body[start..<body.endIndex])) }
        return parts
    }

    /// Splits headers and body at the first empty line; a line that begins with white space continues the one before.
    private static func split(_ bytes: ArraySlice<UInt8>) -> (headers: [String: String], body: ArraySlice<UInt8>) {
        var headers: [String: String] = [:]
        var current: (name: String, value: String)?
        func keep() {
            if let (name, value) = current, headers[name] == nil { headers[name] = value }
        }
        for line in MailLines(bytes) {
            let content = bytes[line.range]
            if content.isEmpty {
                keep()
                return (headers, bytes[line.startOfNext...])
            }
            let text = String(decoding: content, as: UTF8.self)
            if content.first == 32 || content.first == 9 {
                current?.value += " " + text.trimmed
            } else {
                keep()
                let pair = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                current = pair.count == 2 ? (pair[0].trimmed.lowercased(), pair[1].trimmed) : nil
            }
        }
        keep()
        return (headers, bytes[bytes.endIndex...])
    }
}

/// The lines of a mail, which end with LF, with or without CR.
struct MailLines: Sequence, IteratorProtocol {
    struct Line {
        /// The line without its end.
        let range: Range<Int>
        let endOfPrevious: Int
        let startOfNext: Int
    }

    private let bytes: ArraySlice<UInt8>
    private var position: Int
    private var endOfPrevious: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
        endOfPrevious = bytes.startIndex
    }

    mutating func next() -> Line? {
        guard position < bytes.endIndex else { return nil }
        let feed = bytes[position...].firstIndex(of: 10)
        var end = feed ?? bytes.endIndex
        if feed != nil, end > position, bytes[end - 1] == 13 { end -= 1 }
        let line = Line(
            range: position..<end,
            endOfPrevious: endOfPrevious,
            startOfNext: feed.map { $0 + 1 } ?? bytes.endIndex
        )
        (endOfPrevious, position) = (end, line.startOfNext)
        return line
    }
}

/// A header's value and its parameters, as in `text/plain; charset="utf-8"`.
struct MailHeaderValue {
    /// In lower case.
    let value: String
    /// The parameters, with names in lower case.
    let parameters: [String: String]

    init(_ text: String) {
        var pieces: [String] = [""]
        var isQuoted = false
        var isEscaped = false
        for character in text {
            if isEscaped {
                pieces[pieces.count - 1].append(character)
                isEscaped = false
            } else if isQuoted, character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                isQuoted.toggle()
            } else if character == ";", !isQuoted {
                pieces.append("")
            } else {
                pieces[pieces.count - 1].append(character)
            }
        }
        value = (pieces.first ?? "").trimmed.lowercased()
        parameters = pieces.dropFirst().reduce(into: [:]) { result, piece in
            let pair = piece.split(separator: "=", maxSplits: 1)
            if pair.count == 2 { result[pair[0].trimmed.lowercased()] = pair[1].trimmed }
        }
    }
}

extension StringProtocol {
    var trimmed: String {
        let start = drop { $0.isWhitespace }
        return String(start.reversed().drop { $0.isWhitespace }.reversed())
    }
}
