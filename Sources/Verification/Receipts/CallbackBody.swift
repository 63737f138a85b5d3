// SPDX-License-Identifier: Apache-2.0

import Formats

/// The body of a provider's callback, as a gateway's framework passes it on.
struct CallbackBody {
    /// The body as the provider sent it; nil if there is none or the framework passed only the parsed object.
    let text: String?

    /// The fields of the body's JSON object or form; nil if it is neither.
    let parameters: [String: String]?

    /// Reads JSON or form text, either of them also in base64, or an object parsed from it.
    ///
    /// Text is read as a form only if there are no `raw` parameters.
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

    /// The text encoded in base64, if it is JSON or a form.
    private static func decoded(_ text: String) -> String? {
        guard let bytes = Base64.decode(text), let first = bytes.first else { return nil }
        guard first == UInt8(ascii: "{") || bytes.contains(UInt8(ascii: "=")) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// The fields of `application/x-www-form-urlencoded` text; nil for any other text, or if a name occurs twice.
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
