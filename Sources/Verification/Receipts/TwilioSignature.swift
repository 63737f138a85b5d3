// SPDX-License-Identifier: Apache-2.0

import Crypto

/// Twilio's signature of a callback: the base64 of HMAC-SHA-1, or of HMAC-SHA-256, over the address it called and the
/// form's parameters, sorted by name, each name and value after the other (Twilio, "Validating requests").
enum TwilioSignature {
    static func isValid(_ record: ReceiptRecord, _ secrets: [[UInt8]]) -> Bool {
        guard let url = record.url, let text = record.headers?["x-twilio-signature"] else { return false }
        guard let signature = Base64.decode(text) else { return false }
        var parameters = record.parameters
        // Gateways that merge the query into the form repeat the send's id there; Twilio never posts it.
        if let sendID = record.sendIDParameter, parameters["sendId"] == String(sendID) { parameters["sendId"] = nil }
        let form = parameters.sortedByName.flatMap { Array($0.key.utf8) + Array($0.value.utf8) }
        return forms(of: url).contains { url in
            let signed = Array(url.utf8) + form
            return secrets.contains { secret in
                let key = SymmetricKey(data: secret)
                return switch signature.count {
                case Insecure.SHA1.byteCount:
                    HMAC<Insecure.SHA1>.isValidAuthenticationCode(signature, authenticating: signed, using: key)
                case SHA256.byteCount:
                    HMAC<SHA256>.isValidAuthenticationCode(signature, authenticating: signed, using: key)
                default: false
                }
            }
        }
    }

    /// The address by either scheme, with its port, without one and with the scheme's own, its host in lower case, and its
    /// path and query in other spellings: Twilio signs one form, and a proxy that ends TLS, listens elsewhere or writes an
    /// address anew passes on another.
    private static func forms(of url: String) -> [String] {
        let schemes = [("https://", ":443"), ("http://", ":80")]
        let lower = url.lowercased()
        guard let scheme = schemes.first(where: { lower.hasPrefix($0.0) })?.0 else { return [url] }
        let rest = url.dropFirst(scheme.utf8.count)
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let name = withoutPort(authority)
        let places = schemes.flatMap { scheme, port in
            ["\(scheme)\(authority)", "\(scheme)\(name)", "\(scheme)\(name)\(port)", "\(scheme)\(name.lowercased())"]
        }
        let paths = spellings(of: rest[authority.endIndex...])
        return [url] + places.flatMap { place in paths.map { place + $0 } }
    }

    /// A path and its query with percent signs before capitals, small letters or only where they must be, and with a space
    /// as either sign of it.
    private static func spellings(of path: Substring) -> Set<String> {
        let (way, query) = (String(path.prefix { $0 != "?" }), String(path.drop { $0 != "?" }))
        let ways = ["", "/"].contains(way) ? ["", "/"] : [way]
        let queries = [query, query.replacing("+", with: "%20"), query.replacing("%20", with: "+")]
        let paths = ways.flatMap { way in queries.map { way + $0 } }
        return Set(paths + paths.flatMap { path in Escapes.allCases.map { $0.applied(to: path) } })
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
