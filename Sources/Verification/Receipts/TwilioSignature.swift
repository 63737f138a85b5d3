// SPDX-License-Identifier: Apache-2.0

import Crypto

/// Twilio's signature of a callback: the base64 of HMAC-SHA-1, or of HMAC-SHA-256, over the address it called and the form's parameters,
/// sorted by name, each name and value after the other (Twilio, "Validating requests").
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

    /// The address by either scheme, and with its port, without one and with the scheme's own: Twilio signs one form, and
    /// a proxy that ends TLS or listens elsewhere passes on another.
    private static func forms(of url: String) -> [String] {
        let schemes = [("https://", ":443"), ("http://", ":80")]
        guard let scheme = schemes.first(where: { url.hasPrefix($0.0) })?.0 else { return [url] }
        let rest = url.dropFirst(scheme.count)
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let path = rest[authority.endIndex...]
        let name = withoutPort(authority)
        let others = schemes.flatMap { scheme, port in
            ["\(scheme)\(authority)\(path)", "\(scheme)\(name)\(path)", "\(scheme)\(name)\(port)\(path)"]
        }
        return [url] + others.filter { $0 != url }
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
