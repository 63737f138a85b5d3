// SPDX-License-Identifier: Apache-2.0

/// Finds the code in a message's text.
enum CodeFinder {
    /// The code of a last line `@domain #code`, else the first run of exactly six ASCII digits.
    static func code(in body: String) -> String? {
        boundCode(in: body) ?? digitRuns(in: body).first { $0.count == 6 }
    }

    private static func boundCode(in body: String) -> String? {
        guard let line = body.split(whereSeparator: \.isNewline).last, line.hasPrefix("@") else { return nil }
        let parts = line.split(separator: " ")
        guard parts.count >= 2, parts[1].hasPrefix("#") else { return nil }
        let code = parts[1].dropFirst()
        let isCode = (4...10).contains(code.count) && code.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
        return isCode ? String(code) : nil
    }

    private static func digitRuns(in body: String) -> [String] {
        body.utf8.split { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            .map { String(decoding: $0, as: UTF8.self) }
    }
}
