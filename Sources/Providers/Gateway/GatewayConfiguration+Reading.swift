// SPDX-License-Identifier: Apache-2.0

package import Logging
import SettingsReading
package import Verification

extension GatewayConfiguration: ProviderModule {
    package static let kind = "http"
    package static let keys = [
        "url", "urlFile", "method", "contentType", "body", "from", "secret", "secretFile", "idempotencyHeader",
        "idempotent", "messageId", "messageIdPattern", "segments", "errorCode", "errorCodePattern", "basicAuth",
        "basicAuthFile", "caFile", "clientCertificate", "clientCertificateFile", "clientKey", "clientKeyFile", "proxy",
        "proxyFile",
    ]
    package static let structures = ["headers", "answers"]
    package static let quotable: Set = ["body", "messageIdPattern", "errorCodePattern"]

    package var trustsSystem: Bool {
        connection?.authorities == nil && url.filled([:], escaping: .url).hasPrefix("https://")
    }

    package init?(_ settings: ProviderReader) {
        let method = settings.optional("method", .choice) ?? Method.post
        let contentType = settings.optional("contentType", .choice) ?? ContentType.json
        let from = settings.optional("from", .text(upTo: 64))
        let secret = settings.secret("secret", .phrase)?.secret
        let known = GatewayTemplates(settings: settings, hasFrom: from != nil, hasSecret: secret != nil)
        let url = known.url()
        let headers = known.headers()
        let body = known.body(contentType, of: method, beside: [url].compactMap(\.self) + headers.map(\.value))
        let basicAuth = Self.login(settings, headers)
        let connection = settings.connection()
        let idempotencyHeader = settings.optional("idempotencyHeader", .headerName)
        let messageID = Self.place("messageId", settings)
        let errorCode = Self.place("errorCode", settings)
        let answers = Self.answers(settings)
        let segments = settings.optional("segments", .answerPath)
        let isIdempotent = settings.optional("idempotent", .boolean) ?? false
        guard let url, let body else { return nil }
        self.init(
            name: settings.name,
            url: url,
            method: method,
            contentType: contentType,
            headers: headers,
            body: body.template,
            from: from,
            secret: secret,
            basicAuth: basicAuth,
            connection: connection,
            isIdempotent: isIdempotent,
            messageID: messageID,
            segments: segments,
            errorCode: errorCode,
            answers: answers
        )
        if let idempotencyHeader { self.idempotencyHeader = idempotencyHeader }
    }

    /// The location of a value in answers: a path, or a pattern for texts.
    private static func place(_ name: String, _ settings: ProviderReader) -> Place? {
        let path = settings.optional(name, .answerPath)
        let pattern = settings.optional("\(name)Pattern", .pattern)
        if path != nil, pattern != nil { settings.fault("\(name)Pattern", "stands beside \(name); keep one") }
        return path.map { .path($0) } ?? pattern.map { .pattern($0) }
    }

    private static func login(_ settings: ProviderReader, _ headers: [Header]) -> Secret? {
        guard let login = settings.secret("basicAuth", .phrase) else { return nil }
        if !login.secret.revealed.contains(":") {
            settings.fault(login, "must be a user and a password, as user:password")
        } else if headers.contains(where: { $0.name.lowercased() == "authorization" }) {
            settings.fault(login, "stands beside a header Authorization; keep one of the two")
        }
        return login.secret
    }

    private static func answers(_ settings: ProviderReader) -> [AnswerRule] {
        let elements = settings.structure("answers")?.list(of: "answers `{ status: 200-299, outcome: accepted }`") ?? []
        return elements.compactMap { element in
            guard let mapping = element.mapping(keys: ["status", "match", "text", "pattern", "outcome"]) else {
                return nil
            }
            let statuses = mapping.required("status", such: "200-299")?.read(.statuses)
            let outcome: ProviderOutcome? = mapping.required("outcome", such: "refused")?.read(
                .choice(synonyms: ["opted_out": .optedOut])
            )
            var match: [AnswerPath: String] = [:]
            for (path, value) in mapping["match"]?.entries(.answerPath, called: "a value") ?? [] {
                match[path] = value.read(.text(upTo: 256))
            }
            let text = mapping["text"]?.read(.text(upTo: 256))
            let pattern = mapping["pattern"]?.read(.pattern)
            guard let statuses, let outcome else { return nil }
            return AnswerRule(statuses: statuses, match: match, text: text, pattern: pattern, outcome: outcome)
        }
    }

    package func provider(client: ProviderClient, logger: Logger) -> any MessageProvider {
        GatewayProvider(configuration: self, client: client)
    }
}

extension ValueRule where Value == AnswerPath {
    fileprivate static var answerPath: Self {
        Self(requirement: "must be the place of a value in an answer, such as data.id or messages.0.id") { text in
            ValueRule<String>.text(upTo: 256).parse(text).flatMap { AnswerPath($0) }
        }
    }
}

extension ValueRule where Value == AnswerPattern {
    fileprivate static var pattern: Self {
        Self(requirement: "must be a regular expression of RE2, such as 'ID: ([0-9]+)', in single quotes") { text in
            ValueRule<String>.text(upTo: 256).parse(text).flatMap { AnswerPattern($0) }
        }
    }
}

extension ValueRule where Value == ClosedRange<Int> {
    fileprivate static var statuses: Self {
        Self(requirement: "must be an HTTP status or a range of them from 200 to 599, such as 429 or 200-299") { text in
            let bounds = text.split(separator: "-", omittingEmptySubsequences: false).map { part in
                ValueRule<Int>.integer(in: 200...599).parse(String(part))
            }
            guard bounds.count <= 2, let first = bounds.first ?? nil, let last = bounds.last ?? nil else { return nil }
            return first <= last ? first...last : nil
        }
    }
}
