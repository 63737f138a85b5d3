// SPDX-License-Identifier: Apache-2.0

import Providers
import Verification

extension ProviderSettings {
    static func gateway(_ entry: ProviderEntry, _ source: ConfigurationSource) -> GatewayConfiguration? {
        let method = entry.optional("method", .choice, source) ?? GatewayConfiguration.Method.post
        let contentType = entry.optional("contentType", .choice, source) ?? GatewayConfiguration.ContentType.json
        let from = entry.optional("from", .text(upTo: 64), source)
        let secret = source.secret(entry.key + ["secret"], .phrase)?.secret
        let known = GatewayTemplates(entry: entry, source: source, hasFrom: from != nil, hasSecret: secret != nil)
        let url = known.url()
        let headers = known.headers()
        let body = known.body(contentType, of: method, beside: [url].compactMap(\.self) + headers.map(\.value))
        let basicAuth = login(entry, headers, source)
        let connection = connection(entry, source)
        let idempotencyHeader = entry.optional("idempotencyHeader", .headerName, source)
        let messageID = place("messageId", entry, source)
        let errorCode = place("errorCode", entry, source)
        let answers = answers(entry)
        let segments = entry.optional("segments", .answerPath, source)
        let isIdempotent = entry.optional("idempotent", .boolean, source) ?? false
        guard let url, let body else { return nil }
        return GatewayConfiguration(
            name: entry.name,
            url: url,
            method: method,
            contentType: contentType,
            headers: headers,
            body: body.template,
            from: from,
            secret: secret,
            basicAuth: basicAuth,
            connection: connection,
            idempotencyHeader: idempotencyHeader ?? GatewayConfiguration.defaultIdempotencyHeader,
            isIdempotent: isIdempotent,
            messageID: messageID,
            segments: segments,
            errorCode: errorCode,
            answers: answers
        )
    }

    /// The location of a value in answers: a path, or a pattern for texts.
    private static func place(
        _ name: String,
        _ entry: ProviderEntry,
        _ source: ConfigurationSource
    ) -> GatewayConfiguration.Place? {
        let path = entry.optional(name, .answerPath, source)
        let pattern = entry.optional("\(name)Pattern", .pattern, source)
        if path != nil, pattern != nil { entry.fault("\(name)Pattern", "stands beside \(name); keep one", source) }
        return path.map { .path($0) } ?? pattern.map { .pattern($0) }
    }

    private static func login(
        _ entry: ProviderEntry,
        _ headers: [GatewayConfiguration.Header],
        _ source: ConfigurationSource
    ) -> Secret? {
        guard let setting = source.secret(entry.key + ["basicAuth"], .phrase) else { return nil }
        if !setting.secret.revealed.contains(":") {
            source.report(setting.key, at: setting.origin, "must be a user and a password, as user:password")
        } else if headers.contains(where: { $0.name.lowercased() == "authorization" }) {
            source.report(setting.key, at: setting.origin, "stands beside a header Authorization; keep one of the two")
        }
        return setting.secret
    }

    private static func answers(_ entry: ProviderEntry) -> [AnswerRule] {
        let elements = entry.mapping["answers"]?.list(of: "answers `{ status: 200-299, outcome: accepted }`") ?? []
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
