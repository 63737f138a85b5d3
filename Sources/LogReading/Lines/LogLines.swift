// SPDX-License-Identifier: Apache-2.0

import Formats

/// Splits a stream of bytes into the lines that workers wrote, and undoes the wrapping of platforms.
///
/// Container runtimes split long lines and prefix each part (CRI: CRI-O and containerd), or put each part into a JSON
/// object (Docker); PowerShell's `>` writes UTF-16.
package struct LogLines {
    private var decoder: UTF16Reader?
    private var isEncodingKnown: Bool

    /// The first bytes of a stream, kept until they suffice to detect its encoding.
    private var beginning: [UInt8] = []
    private var buffer = LineBuffer()
    private var parts = LineParts()

    /// - Parameter beginning: the first bytes of a file that is read from its middle.
    package init(ofFileBeginningWith beginning: [UInt8]? = nil) {
        decoder = beginning.flatMap { UTF16Reader(beginning: $0) }
        isEncodingKnown = beginning != nil
    }

    package mutating func append(_ chunk: some Collection<UInt8>) {
        guard isEncodingKnown else {
            beginning += chunk
            guard beginning.count >= 2 else { return }
            decoder = UTF16Reader(beginning: beginning)
            isEncodingKnown = true
            take(beginning)
            beginning = []
            return
        }
        take(chunk)
    }

    private mutating func take(_ chunk: some Collection<UInt8>) {
        guard decoder != nil else { return buffer.append(chunk) }
        buffer.append(decoder?.read(chunk) ?? [])
    }

    /// The next line without its end; nil until more bytes arrive.
    package mutating func next() -> LineBuffer.Line? {
        while let line = buffer.next() {
            if let whole = parts.join(line) { return whole }
        }
        return nil
    }

    /// The bytes after the last line end, called at the end of the input until it returns nil.
    package mutating func rest() -> LineBuffer.Line? {
        if !isEncodingKnown {
            isEncodingKnown = true
            take(beginning)
            beginning = []
        }
        if let line = buffer.rest(), let whole = parts.join(line) { return whole }
        return parts.rest()
    }
}

/// Converts UTF-16 to UTF-8 incrementally; an incomplete character waits for its other half.
private struct UTF16Reader {
    private let isLittleEndian: Bool
    private var half: UInt8?
    private var leading: UInt16?

    /// Detects UTF-16 by a byte order mark or a zero in the first two bytes; nil for any other text.
    init?(beginning: [UInt8]) {
        switch beginning.prefix(2) {
        case [0xff, 0xfe]: isLittleEndian = true
        case [0xfe, 0xff]: isLittleEndian = false
        case let bytes where bytes.count == 2 && bytes[0] != 0 && bytes[1] == 0: isLittleEndian = true
        case let bytes where bytes.count == 2 && bytes[0] == 0 && bytes[1] != 0: isLittleEndian = false
        default: return nil
        }
    }

    mutating func read(_ chunk: some Collection<UInt8>) -> [UInt8] {
        var units: [UInt16] = []
        units.reserveCapacity(chunk.count / 2 + 2)
        if let leading { units.append(leading) }
        leading = nil
        for byte in chunk {
            guard let first = half else {
                half = byte
                continue
            }
            half = nil
            let (low, high) = isLittleEndian ? (first, byte) : (byte, first)
            units.append(UInt16(high) << 8 | UInt16(low))
        }
        if let last = units.last, UTF16.isLeadSurrogate(last) { leading = units.removeLast() }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }
}

/// Joins the parts of lines that a container runtime has split, by stream, in bounded memory.
private struct LineParts {
    private var parts: [String: [UInt8]] = [:]

    /// The whole line that a part completes, or a line without wrapping as it is; nil while parts are missing.
    mutating func join(_ line: LineBuffer.Line) -> LineBuffer.Line? {
        guard case .whole(let bytes) = line, let part = LinePart(bytes) else { return line }
        var content = parts.removeValue(forKey: part.stream) ?? []
        content += part.content
        guard content.count <= LineBuffer.longestLine else { return .tooLong }
        if part.isLast { return .whole(content) }
        parts[part.stream] = content
        return nil
    }

    /// A part whose other parts never came, which counts as a broken line.
    mutating func rest() -> LineBuffer.Line? { parts.popFirst().map { .whole($0.value) } }
}

/// One line of a container runtime's log.
private struct LinePart {
    let stream: String
    let content: [UInt8]

    /// True for the last part of the worker's line.
    let isLast: Bool

    init?(_ line: [UInt8]) {
        if line.starts(with: Array(#"{"log":""#.utf8)) { self.init(docker: line) } else { self.init(cri: line) }
    }

    /// Parses CRI's format: `2026-11-20T12:00:00.123456789Z stdout P {"timestamp":…`.
    ///
    /// The fields are a time, a stream, `P` for a part or `F` for the last one, possibly followed by more tags after a
    /// colon, and the text.
    private init?(cri line: [UInt8]) {
        let blank = UInt8(ascii: " ")
        let words = line.split(separator: blank, maxSplits: 3, omittingEmptySubsequences: false)
        guard words.count == 4, (20...40).contains(words[0].count), words[0].contains(UInt8(ascii: "T")) else {
            return nil
        }
        let name = String(decoding: words[1], as: UTF8.self)
        let tag = words[2].split(separator: UInt8(ascii: ":"), maxSplits: 1).first?.elementsEqual("P".utf8)
        guard ["stdout", "stderr"].contains(name), let isPart = tag else { return nil }
        guard isPart || words[2].first == UInt8(ascii: "F") else { return nil }
        (stream, content, isLast) = (name, Array(words[3]), !isPart)
    }

    /// Parses Docker's format: `{"log":"{\"timestamp\":…}\n","stream":"stdout","time":"…"}`.
    ///
    /// The text of the last part ends with a line end.
    private init?(docker line: [UInt8]) {
        guard case .object(let object)? = try? JSONScanner.parse(line, limits: JSONLimits(maximumDepth: 4)),
            let text = object.text("log"), let name = object.text("stream")
        else { return nil }
        let bytes = Array(text.utf8)
        (stream, isLast) = (name, bytes.last == UInt8(ascii: "\n"))
        content = isLast ? Array(bytes.dropLast()) : bytes
    }
}
