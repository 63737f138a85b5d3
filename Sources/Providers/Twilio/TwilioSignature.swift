// SPDX-License-Identifier: Apache-2.0

import Crypto
import Formats
import Verification

/// Twilio's signature of a callback: the base64 of an HMAC with SHA-1 or SHA-256.
///
/// It covers the called URL and the form's parameters, sorted by name, each name followed by its value (Twilio,
/// "Validating requests").
struct TwilioSignature: ReceiptSignature {
    /// The URL that Twilio calls, if known; nil for the URL that the gateway received.
    var callbackURL: String?

    /// The maximum size, far above Twilio's callbacks: a larger one is rejected before anything is computed.
    static let longestCallback = 16 * 1024

    /// False always: Twilio signs in a header of the request.
    func isStated(in record: ReceiptRecord) -> Bool { false }

    func isValid(_ record: ReceiptRecord, _ secrets: [[UInt8]], _ attempts: inout SignatureAttempts) -> Bool {
        guard let signature = record.headers?["x-twilio-signature"].flatMap(Base64.decode) else { return false }
        guard [Insecure.SHA1.byteCount, SHA256.byteCount].contains(signature.count) else { return false }
        var parameters = record.parameters
        let size = parameters.reduce(record.url?.utf8.count ?? 0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        guard size <= Self.longestCallback, !secrets.isEmpty else { return false }
        // Gateways that merge the query into the form repeat `sendId` there; Twilio never posts it.
        if let sendID = record.sendIDParameter, parameters["sendId"] == String(sendID) { parameters["sendId"] = nil }
        let form = parameters.sortedByName.flatMap { Array($0.key.utf8) + Array($0.value.utf8) }
        let keys = secrets.map { SymmetricKey(data: $0) }
        for url in urls(of: record) where !attempts.isOver {
            let signed = Array(url.utf8) + form
            let isValid = keys.contains { key in
                signature.count == SHA256.byteCount
                    ? attempts.isValid(signature, of: signed, key, HMAC<SHA256>.self)
                    : attempts.isValid(signature, of: signed, key, HMAC<Insecure.SHA1>.self)
            }
            if isValid { return true }
        }
        return false
    }

    /// The URLs that Twilio may have signed.
    ///
    /// With a configured URL it is that one with the callback's query, otherwise the forms of the URL that the gateway
    /// received, since a proxy may have changed it.
    private func urls(of record: ReceiptRecord) -> [String] {
        guard let callbackURL else { return record.url.map(Self.forms) ?? [] }
        let query = record.url.map { $0.prefix { $0 != "#" }.drop { $0 != "?" } } ?? ""
        if !query.isEmpty { return [callbackURL + query, callbackURL] }
        return [callbackURL] + [record.sendID.map { "\(callbackURL)?sendId=\($0)" }].compactMap(\.self)
    }

    /// The variants of a URL that Twilio may have signed, the likely ones first.
    ///
    /// The URL as received; with either scheme, without its port or with the scheme's own, and with a lower-case host;
    /// then its path and query in other spellings. Twilio signs one variant, and a proxy that terminates TLS, listens
    /// on another port or rewrites URLs passes on another.
    private static func forms(of url: String) -> [String] {
        let schemes = ["https://", "http://"]
        let lower = url.lowercased()
        guard let scheme = schemes.first(where: lower.hasPrefix) else { return [url] }
        let rest = url.dropFirst(scheme.utf8.count)
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let (name, path) = (withoutPort(authority), String(rest[authority.endIndex...]))
        let places = [
            "https://\(name)", "https://\(authority)", "http://\(authority)", "https://\(name):443", "http://\(name)",
        ]
        let spelt = spellings(of: path).map { "https://\(name.lowercased())\($0)" }
        var seen: Set<String> = []
        return ([url] + places.map { $0 + path } + spelt).filter { seen.insert($0).inserted }
    }

    /// The spellings of a path and its query, the received one first.
    ///
    /// With or without the root slash; with percent-encoding in capitals, in small letters or only where required; with
    /// a space as `+` or `%20`; and with both of these combined.
    private static func spellings(of path: String) -> [String] {
        let (way, query) = (String(path.prefix { $0 != "?" }), String(path.drop { $0 != "?" }))
        let roots = ["", "/"].contains(way) ? [(way.isEmpty ? "/" : "") + query] : []
        let spaced = [query.replacing("%20", with: "+"), query.replacing("+", with: "%20")].map { way + $0 }
        let escaped = Escapes.allCases.map { $0.applied(to: path) }
        let both = spaced.filter { $0 != path }.flatMap { path in Escapes.allCases.map { $0.applied(to: path) } }
        return [path] + roots + escaped + spaced + both
    }

    private enum Escapes: CaseIterable {
        case capitals
        case smallLetters

        /// Without percent-encoded unreserved characters (RFC 3986, section 2.3).
        case least

        func applied(to text: String) -> String {
            var bytes: [UInt8] = []
            var rest = Array(text.utf8)[...]
            while let byte = rest.popFirst() {
                let digits = rest.prefix(2).compactMap { Hexadecimal.value(of: $0) }
                guard byte == UInt8(ascii: "%"), digits.count == 2 else {
                    bytes.append(byte)
                    continue
                }
                rest = rest.dropFirst(2)
                let escaped = digits[0] << 4 | digits[1]
                let isUnreserved = escaped.isASCIILetterOrDigit || "-._~".utf8.contains(escaped)
                let hex = hexadecimal([escaped])
                switch self {
                case .least where isUnreserved: bytes.append(escaped)
                case .smallLetters: bytes += Array("%\(hex)".utf8)
                case .capitals, .least: bytes += Array("%\(hex.uppercased())".utf8)
                }
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    private static func withoutPort(_ authority: Substring) -> Substring {
        guard let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") else { return authority }
        return authority[..<colon]
    }
}

extension [String: String] {
    /// The parameters, sorted by the bytes of their names.
    var sortedByName: [(key: String, value: String)] {
        sorted { $0.key.hasBytes(before: $1.key) }
    }
}
