// SPDX-License-Identifier: Apache-2.0

/// The body of a provider's callback as a gateway's framework hands it on.
struct CallbackBody {
    /// The body as the provider sent it; nil where there is none or the framework has read it already.
    let text: String?

    /// What its JSON object or its form says; nil where it is neither.
    let parameters: [String: String]?

    /// Reads the text of JSON or of a form, either of them also in base64, or an object that was read from it.
    ///
    /// A text is taken for a form only where nothing else says what the parameters are.
    init(_ value: JSONValue?, _ raw: [String: String]?) throws(DeadLetterReason) {
        switch value {
        case nil, .null, .string(""):
            (text, parameters) = (nil, nil)
        case .object(let object):
            (text, parameters) = (nil, try ReceiptRecord.flattened(object))
        case .string(let given):
            if let parameters = try Self.json(given) {
                (text, self.parameters) = (given, parameters)
            } else if let decoded = Self.decoded(given) {
                (text, parameters) = (decoded, try Self.json(decoded) ?? Self.form(decoded))
            } else {
                (text, parameters) = (given, raw == nil ? Self.form(given) : nil)
            }
        default:
            throw .invalidReceipt
        }
    }

    private static func json(_ text: String) throws(DeadLetterReason) -> [String: String]? {
        guard case .object(let members)? = try? JSONScanner.parse(Array(text.utf8)) else { return nil }
        return try ReceiptRecord.flattened(members)
    }

    /// The text that base64 spells, where that is JSON or a form.
    private static func decoded(_ text: String) -> String? {
        guard let bytes = Base64.decode(text), let first = bytes.first else { return nil }
        guard first == UInt8(ascii: "{") || bytes.contains(UInt8(ascii: "=")) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// The fields of `application/x-www-form-urlencoded`; nil where the text is none, or a name comes twice.
    private static func form(_ text: String) -> [String: String]? {
        var fields: [String: String] = [:]
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let name = unescaped(parts[0]), let value = unescaped(parts[1]) else { return nil }
            guard fields.updateValue(value, forKey: name) == nil else { return nil }
        }
        return fields.isEmpty ? nil : fields
    }

    private static func unescaped(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"):
                bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(Hexadecimal.value),
                    let low = rest.popFirst().flatMap(Hexadecimal.value)
                else { return nil }
                bytes.append(high << 4 | low)
            default:
                bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
