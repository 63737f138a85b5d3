// SPDX-License-Identifier: Apache-2.0

import SettingsReading
import Verification

/// Reads the templates of a gateway, so that an invalid one fails the start rather than a message.
struct GatewayTemplates {
    let settings: ProviderReader
    let hasFrom: Bool
    let hasSecret: Bool

    /// The variables allowed in headers: all but the text, which may have several lines.
    private static let inHeaders = GatewayTemplate.Variable.allCases.filter { $0 != .text }

    /// The URL; it may hold a key, so it may also come from a file.
    func url() -> GatewayTemplate? {
        let example = "\"https://gateway.example.com/messages\""
        guard let setting = settings.requiredSecret("url", such: example) else { return nil }
        let text = setting.secret.revealed
        let report = { settings.fault(setting, $0) }
        guard let template = template(text, GatewayTemplate.Variable.allCases, report) else { return nil }
        let rule = ValueRule.requestAddress
        let host = text.split(separator: "/", maxSplits: 3).dropFirst().first ?? ""
        guard rule.parse(template.filled(GatewayBodyCheck.usual, escaping: .url)) != nil, !host.contains("{") else {
            report(rule.requirement)
            return nil
        }
        if let fault = GatewayBodyCheck.fault(ofAddress: template) { report(fault) }
        return template
    }

    /// A valid body, which may be absent.
    struct Body {
        let template: GatewayTemplate?
    }

    /// The body, absent where URL and headers carry everything; nil with a fault.
    func body(
        _ contentType: GatewayConfiguration.ContentType,
        of method: GatewayConfiguration.Method,
        beside others: [GatewayTemplate]
    ) -> Body? {
        let named = others.reduce(into: Set()) { $0.formUnion($1.variables) }
        let isNeeded = method != .get && !Self.isEnough(named)
        guard settings.has("body") || isNeeded else {
            if Self.isEnough(named) { return Body(template: nil) }
            settings.fault("url", Self.requirement)
            return nil
        }
        let example = #"'{"to": "{to}", "text": "{text}"}'"#
        guard let text = settings.required("body", .body, such: example) else { return nil }
        let report = { settings.fault("body", $0) }
        if method == .get { report("cannot go with method: GET; put its variables into url") }
        guard let template = template(text, GatewayTemplate.Variable.allCases, report) else { return nil }
        guard Self.isEnough(named.union(template.variables)) else {
            report(Self.requirement)
            return nil
        }
        if let fault = GatewayBodyCheck(template: template, contentType: contentType).fault {
            report(fault)
            return nil
        }
        return Body(template: template)
    }

    private static let requirement = "must name {text} or {code}, and {to} or {toDigits}"

    /// True when the variables suffice to deliver a code: a text or a code, and a number.
    private static func isEnough(_ variables: Set<GatewayTemplate.Variable>) -> Bool {
        !variables.isDisjoint(with: [.text, .code]) && !variables.isDisjoint(with: [.to, .toDigits])
    }

    /// The headers; a secret value may come from a file, as `AuthorizationFile`.
    func headers() -> [GatewayConfiguration.Header] {
        guard let mapping = settings.structure("headers") else { return [] }
        var headers: [GatewayConfiguration.Header] = []
        var seen: Set<String> = []
        for (entryName, value) in mapping.entries(.headerName, called: "a header") ?? [] {
            let isPath = entryName.hasSuffix("File")
            let name = isPath ? String(entryName.dropLast(4)) : entryName
            if !seen.insert(name.lowercased()).inserted { value.fault("is given more than once; keep one") }
            guard let text = text(of: value, isPath: isPath, entryName) else { continue }
            guard let template = template(text, Self.inHeaders, value.fault) else { continue }
            headers.append(GatewayConfiguration.Header(name: name, value: template))
        }
        return headers
    }

    private func text(of value: YAMLValue, isPath: Bool, _ name: String) -> String? {
        guard let text = value.read(.text(upTo: 8192)) else { return nil }
        guard isPath else { return text }
        guard let secret = settings.contents(of: value, text, called: name)?.secret else { return nil }
        let rule = ValueRule.text(upTo: 8192)
        if rule.parse(secret.revealed) == nil { value.fault("must name a file of one line of 8192 bytes at most") }
        return rule.parse(secret.revealed)
    }

    /// A template with only the allowed variables; their names are known words, so faults may quote them.
    private func template(
        _ text: String,
        _ allowed: [GatewayTemplate.Variable],
        _ report: (String) -> Void
    ) -> GatewayTemplate? {
        let names = allowed.map { "{\($0.rawValue)}" }.joined(separator: ", ")
        do throws(GatewayTemplate.UnknownVariable) {
            let template = try GatewayTemplate(text)
            let variables = template.variables
            if !variables.isSubset(of: allowed) { report("must not name {text} here; known here: \(names)") }
            if variables.contains(.from), !hasFrom { report("names {from}; add from: to say what it is") }
            if variables.contains(.secret), !hasSecret { report("names {secret}; add secret or secretFile") }
            return template
        } catch {
            let nearest = NearestKey.of(error.name, among: allowed.map(\.rawValue))
            let advice = nearest.map { "did you mean {\($0)}?" } ?? "known here: \(names)"
            report("names an unknown variable; \(advice)")
            return nil
        }
    }
}

extension ValueRule where Value == String {
    /// Any text for a body's template, line breaks included.
    fileprivate static var body: Self {
        Self(requirement: "must be a text of 1 to 16384 bytes") { (1...16_384).contains($0.utf8.count) ? $0 : nil }
    }

    /// An address for requests, used unchanged, with its query.
    fileprivate static var requestAddress: Self {
        Self(requirement: "must be an address such as https://host:port/path, without user or fragment") {
            text in
            let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
            guard let base = parts.first, address.parse(String(base)) != nil, text.utf8.count <= 2048 else {
                return nil
            }
            let query = parts.dropFirst().first ?? ""
            let isPlain = query.utf8.allSatisfy {
                (0x21...0x7e).contains($0) && !Array("#\"<>\\^`{|}".utf8).contains($0)
            }
            return isPlain ? text : nil
        }
    }

    /// The name of a header that HTTP itself does not use.
    static var headerName: Self {
        let requirement = "must be a header's name, and neither Host, Connection, Transfer-Encoding nor Content-…"
        return Self(requirement: requirement) { text in
            let name = text.lowercased()
            let isReserved = ["host", "connection", "transfer-encoding"].contains(name) || name.hasPrefix("content-")
            let fits = name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
                    UInt8(ascii: "_"):
                    true
                default: false
                }
            }
            return (1...64).contains(name.utf8.count) && fits && !isReserved && name != "file" ? text : nil
        }
    }
}
