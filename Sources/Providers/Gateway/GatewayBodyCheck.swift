// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

/// Checks that a gateway's body stays well formed with every kind of value, so that no message fails on it later.
struct GatewayBodyCheck {
    typealias Values = [GatewayTemplate.Variable: String]

    let template: GatewayTemplate
    let contentType: GatewayConfiguration.ContentType

    /// A text, a number and a URL part at once: shows which form the body has.
    private static let plain = Values(uniqueKeysWithValues: GatewayTemplate.Variable.allCases.map { ($0, "1") })

    /// The values of an ordinary message.
    static let usual: Values = [
        .to: "+16505550123", .toDigits: "16505550123", .text: "123456 is your code", .ttlSeconds: "600", .from: "Acme",
        .secret: "secret", .sendID: "01890a5d-ac96-774b-bcce-b302099a8057", .entityID: "entity",
        .templateID: "template", .code: "123456", .expiresAt: "2026-11-20T12:34:56Z", .expiresAtSeconds: "1795178096",
    ]

    /// Values that every body must hold: a leading zero, all characters that need an escape, the shortest and the
    /// longest.
    private static let hard: [Values] = {
        let marks = "\"0\" & <b> 'c' \\ ]]> --> % + = é 𝟘😀\r\n{d} \u{7F}"
        let marked: Values = [.text: marks, .code: "012345", .from: "\"A\" & <B> '\\", .secret: "\"s\" & <S> '\\ é😀"]
        let shortest: Values = [
            .text: "0", .code: "0000", .to: "+1234567", .toDigits: "1234567", .ttlSeconds: "1", .entityID: "",
            .templateID: "",
        ]
        let longest: Values = [
            .text: String(repeating: marks, count: 40), .code: "0123456789", .to: "+123456789012345",
            .toDigits: "123456789012345", .ttlSeconds: "86400", .entityID: String(repeating: "1", count: 64),
        ]
        return [usual] + [marked, shortest, longest].map { usual.merging($0) { _, hard in hard } }
    }()

    /// The fault of a URL whose query contains documents, as the end of a sentence; nil where every value fits.
    static func fault(ofAddress template: GatewayTemplate) -> String? {
        let queries = ([plain] + hard).map { values in
            formValues(String(template.filled(values, escaping: .url).drop { $0 != "?" }.dropFirst()))
        }
        return fault(ofStrings: queries[0], Array(queries.dropFirst()))
    }

    /// The fault of the body, as the end of a sentence; nil where every value fits.
    var fault: String? {
        switch contentType {
        case .json: faultOfJSON
        case .form: faultOfForm
        case .xml: faultOfXML
        case .text: faultOfText
        }
    }

    private func filled(_ values: Values) -> String {
        template.filled(values, escaping: contentType.escaping)
    }

    private var faultOfJSON: String? {
        let advice = "put quotes around all but {ttlSeconds}, {expiresAtSeconds} and {toDigits}"
        let documents = ([Self.plain] + Self.hard).map { Self.json(filled($0)) }
        guard let plain = documents[0], !documents.contains(where: { $0 == nil }) else {
            return "must be JSON when its variables are filled in, also with a code such as 012345; \(advice)"
        }
        let hard = documents.dropFirst().compactMap { $0?.strings }
        return Self.fault(ofStrings: plain.strings, hard)
    }

    private var faultOfForm: String? {
        let texts = ([Self.plain] + Self.hard).map(filled)
        guard texts.allSatisfy({ text in text.utf8.allSatisfy { (0x21...0x7e).contains($0) } }) else {
            return "must be a form such as to={to}&text={text}, without spaces and line breaks"
        }
        let values = texts.map(Self.formValues)
        return Self.fault(ofStrings: values[0], Array(values.dropFirst()))
    }

    private var faultOfXML: String? {
        var documents: [[String]] = []
        for values in [Self.plain] + Self.hard {
            guard let texts = WellFormedXML.values(filled(values)) else {
                return
                    "must be XML when its variables are filled in, such as <to>{to}</to><text>{text}</text> in one element"
            }
            documents.append(texts)
            for variable in template.variables {
                let value = values[variable] ?? ""
                guard value.isEmpty || texts.contains(where: { $0.contains(value) }) else {
                    return
                        "must not name {\(variable.rawValue)} in a comment, a name or CDATA, where nothing can be escaped"
                }
            }
        }
        return Self.fault(ofStrings: documents[0], Array(documents.dropFirst()))
    }

    private var faultOfText: String? {
        switch Self.kind(of: filled(Self.plain)) {
        case .json where Self.hard.contains(where: { Self.json(filled($0)) == nil }):
            "is JSON, in which nothing is escaped as text/plain; set contentType: application/json"
        case .xml where Self.hard.contains(where: { WellFormedXML.values(filled($0)) == nil }):
            "is XML, in which nothing is escaped as text/plain; set contentType: application/xml"
        default: nil
        }
    }

    // MARK: - Documents inside of values

    private enum Kind {
        case json
        case xml
    }

    /// The fault of values that are documents themselves: a value escaped once for the outer one may break the inner
    /// one.
    private static func fault(ofStrings plain: [String], _ hard: [[String]]) -> String? {
        for (place, string) in plain.enumerated() {
            let others = hard.map { $0.indices.contains(place) ? $0[place] : "" }
            switch kind(of: string) {
            case .json:
                let documents = others.map(json)
                guard !documents.contains(where: { $0 == nil }) else {
                    return
                        "holds JSON inside of a value, where variables are escaped once and would break it; \(outside)"
                }
                let inner = documents.compactMap { $0?.strings }
                if let fault = fault(ofStrings: json(string)?.strings ?? [], inner) { return fault }
            case .xml:
                guard !others.contains(where: { WellFormedXML.values($0) == nil }) else {
                    return "holds XML inside of a value, where variables are not escaped for it; \(outside)"
                }
            case nil: break
            }
        }
        return nil
    }

    private static let outside =
        "name there none but {to}, {code} and others without quotes in them, in quotes, or use another body"

    private static func kind(of text: String) -> Kind? {
        switch text.unicodeScalars.first(where: { !$0.properties.isWhitespace }) {
        case "{", "[", "\"": json(text) == nil ? nil : .json
        case "<": WellFormedXML.values(text) == nil ? nil : .xml
        default: nil
        }
    }

    private static func json(_ text: String) -> JSONValue? {
        try? JSONScanner.parse(Array(text.utf8))
    }

    private static func formValues(_ form: String) -> [String] {
        form.split(separator: "&").map { pair in
            let value = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).last ?? ""
            return String(value.replacing("+", with: " ")).removingPercentEscapes
        }
    }
}

extension JSONValue {
    /// Every string in the value, including names of members, in document order.
    fileprivate var strings: [String] {
        switch self {
        case .string(let text): [text]
        case .array(let elements): elements.flatMap(\.strings)
        case .object(let object): object.members.flatMap { [$0.name] + $0.value.strings }
        default: []
        }
    }
}

extension String {
    fileprivate var removingPercentEscapes: String {
        var bytes: [UInt8] = []
        var rest = utf8[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2, let value = UInt8(String(Substring(digits)), radix: 16) {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
