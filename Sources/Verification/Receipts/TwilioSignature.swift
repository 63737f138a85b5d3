// SPDX-License-Identifier: Apache-2.0

import Crypto

/// Twilio's signature of a callback: the base64 of HMAC-SHA-1, or of HMAC-SHA-256, over the address it called and the
/// form's parameters, sorted by name, each name and value after the other (Twilio, "Validating requests").
enum TwilioSignature {
    /// More than Twilio posts, by far: what is longer is refused before anything is computed.
    static let longestCallback = 16 * 1024

    static func isValid(
        _ record: ReceiptRecord,
        _ secrets: [[UInt8]],
        callbackURL: String? = nil,
        _ attempts: inout SignatureAttempts
    ) -> Bool {
        guard let signature = record.headers?["x-twilio-signature"].flatMap(Base64.decode) else { return false }
        guard [Insecure.SHA1.byteCount, SHA256.byteCount].contains(signature.count) else { return false }
        var parameters = record.parameters
        let size = parameters.reduce(record.url?.utf8.count ?? 0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        guard size <= longestCallback, !secrets.isEmpty else { return false }
        // Gateways that merge the query into the form repeat the send's id there; Twilio never posts it.
        if let sendID = record.sendIDParameter, parameters["sendId"] == String(sendID) { parameters["sendId"] = nil }
        let form = parameters.sortedByName.flatMap { Array($0.key.utf8) + Array($0.value.utf8) }
        let keys = secrets.map { SymmetricKey(data: $0) }
        for url in urls(of: record, callbackURL) where !attempts.isOver {
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

    /// The addresses that Twilio may have signed: the configured one with the callback's query, or else what a proxy may
    /// have made the address that the gateway saw of.
    private static func urls(of record: ReceiptRecord, _ callbackURL: String?) -> [String] {
        guard let callbackURL else { return record.url.map(forms) ?? [] }
        let query = record.url.map { $0.prefix { $0 != "#" }.drop { $0 != "?" } } ?? ""
        if !query.isEmpty { return [callbackURL + query, callbackURL] }
        return [callbackURL] + [record.sendID.map { "\(callbackURL)?sendId=\($0)" }].compactMap(\.self)
    }

    /// The addresses that Twilio may have signed, the likely ones first.
    ///
    /// As it came; by either scheme, without its port and with the scheme's own, and its host in lower case; then its path
    /// and query in other spellings. Twilio signs one form, and a proxy that ends TLS, listens elsewhere or writes an
    /// address anew passes on another.
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

    /// A path and its query: as it came, with another root, with percent signs before capitals, small letters or only where
    /// they must be, with a space as either sign of it, and both.
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

        /// Without those of letters, digits and marks that need none (RFC 3986, section 2.3).
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
    /// The parameters in the order of their names' bytes.
    var sortedByName: [(key: String, value: String)] {
        sorted { $0.key.hasBytes(before: $1.key) }
    }
}
