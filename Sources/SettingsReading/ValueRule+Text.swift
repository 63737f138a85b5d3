// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

extension ValueRule where Value == String {
    /// Any text without control characters, 1 to `limit` bytes.
    package static func text(upTo limit: Int) -> Self {
        let requirement = "must be a text of 1 to \(limit) bytes without control characters"
        return Self(requirement: requirement, schema: "\(textSchema),\"maxLength\":\(limit)") { text in
            (1...limit).contains(text.utf8.count) && !hasControlCharacters(text) ? text : nil
        }
    }

    /// A name of 1 to `limit` letters, digits and `._-`.
    package static func name(upTo limit: Int) -> Self {
        let schema = #""type":"string","pattern":"^[A-Za-z0-9._-]{1,\#(limit)}$""#
        return Self(requirement: "must be 1 to \(limit) letters, digits or ._-", schema: schema) { text in
            let fits = text.utf8.allSatisfy { isAlphanumeric($0) || [0x2e, 0x5f, 0x2d].contains($0) }
            return (1...limit).contains(text.utf8.count) && fits ? text : nil
        }
    }

    /// The app's name in messages.
    package static var appName: Self {
        let requirement = "must be 1 to 40 characters without control characters, links, @ or four digits"
        return Self(requirement: requirement) { AppName(own: $0)?.text }
    }

    /// A language tag, normalized to its usual case.
    package static var language: Self {
        Self(requirement: "must be a language tag such as en or pt-BR") { LanguageTag($0)?.text }
    }

    /// A host name of two labels or more, or `localhost`, in lower case.
    package static var domain: Self {
        Self(requirement: "must be a host name such as example.com, or localhost") { text in
            text.lowercased() == "localhost" ? "localhost" : HostName(text)?.text
        }
    }

    /// An HTTP address without a trailing slash.
    ///
    /// Credentials, query and fragment are invalid: they would be lost or logged.
    package static var address: Self {
        Self(requirement: "must be an address such as https://host:port/path, without user, query or fragment") {
            text in
            let scheme = ["https://", "http://"].first { text.hasPrefix($0) }
            guard let scheme, text.utf8.count <= 2048 else { return nil }
            let rest = text.utf8.dropFirst(scheme.utf8.count)
            let isPlain = rest.allSatisfy { (0x21...0x7e).contains($0) && !Array("@?#\"<>\\^`{|}".utf8).contains($0) }
            guard isPlain, let first = rest.first, first != UInt8(ascii: "/"), first != UInt8(ascii: ":") else {
                return nil
            }
            return text.hasSuffix("/") ? String(text.dropLast()) : text
        }
    }

    package static func digits(_ count: Int) -> Self {
        Self(requirement: "must be \(count) digits, in quotes") { text in
            let isNumber = text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            return text.utf8.count == count && isNumber ? text : nil
        }
    }
}

private func isAlphanumeric(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "A")...UInt8(ascii: "Z"):
        true
    default: false
    }
}

private func hasControlCharacters(_ text: String) -> Bool {
    text.unicodeScalars.contains { $0.properties.generalCategory == .control }
}
