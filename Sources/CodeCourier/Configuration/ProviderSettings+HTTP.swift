// SPDX-License-Identifier: Apache-2.0

import Providers
import Verification

extension ProviderSettings {
    static func gateway(_ entry: ProviderEntry, _ source: ConfigurationSource) -> GatewayConfiguration? {
        let url = address(entry, source)
        let method = entry.optional("method", .choice, source) ?? GatewayConfiguration.Method.post
        let contentType = entry.optional("contentType", .choice, source) ?? GatewayConfiguration.ContentType.json
        let from = entry.optional("from", .text(upTo: 64), source)
        let secret = source.secret(entry.key + ["secret"])?.secret
        let known = GatewayTemplates(entry: entry, source: source, hasFrom: from != nil, hasSecret: secret != nil)
        let body = known.body(contentType)
        let headers = known.headers()
        let idempotencyHeader = entry.optional("idempotencyHeader", .headerName, source)
        let messageID = entry.optional("messageId", .answerPath, source)
        let answers = answers(entry)
        if messageID == nil, !entry.has("messageId", source), !answers.contains(where: { $0.outcome == .accepted }) {
            let message = "needs messageId, such as data.id, or an entry of answers with outcome: accepted; "
            entry.mapping.value.fault("\(message)without either no message is ever known to be accepted")
        }
        let segments = entry.optional("segments", .answerPath, source)
        let errorCode = entry.optional("errorCode", .answerPath, source)
        let isIdempotent = entry.optional("idempotent", .boolean, source) ?? false
        guard let url, let body else { return nil }
        return GatewayConfiguration(
            name: entry.name,
            url: url,
            method: method,
            contentType: contentType,
            headers: headers,
            body: body,
            from: from,
            secret: secret,
            idempotencyHeader: idempotencyHeader ?? GatewayConfiguration.defaultIdempotencyHeader,
            isIdempotent: isIdempotent,
            messageID: messageID,
            segments: segments,
            errorCode: errorCode,
            answers: answers
        )
    }

    /// The address, which may hold a key and therefore may stand in a file.
    private static func address(_ entry: ProviderEntry, _ source: ConfigurationSource) -> Secret? {
        let setting = entry.requiredSecret("url", such: "\"https://gateway.example.com/messages\"", source)
        guard let setting else { return nil }
        let rule = ValueRule.requestAddress
        if rule.parse(setting.secret.revealed) != nil { return setting.secret }
        source.report(setting.key, at: setting.origin, rule.requirement)
        return nil
    }

    private static func answers(_ entry: ProviderEntry) -> [AnswerRule] {
        let elements = entry.mapping["answers"]?.list(of: "answers `{ status: 200-299, outcome: accepted }`") ?? []
        return elements.compactMap { element in
            guard let mapping = element.mapping(keys: ["status", "match", "outcome"]) else { return nil }
            let statuses = mapping.required("status", such: "200-299")?.read(.statuses)
            let outcome: ProviderOutcome? = mapping.required("outcome", such: "refused")?.read(.choice)
            var match: [AnswerPath: String] = [:]
            for (path, value) in mapping["match"]?.entries(.answerPath, called: "a value") ?? [] {
                match[path] = value.read(.text(upTo: 256))
            }
            guard let statuses, let outcome else { return nil }
            return AnswerRule(statuses: statuses, match: match, outcome: outcome)
        }
    }
}

extension ValueRule where Value == AnswerPath {
    fileprivate static var answerPath: Self {
        Self(requirement: "must be the place of a value in a JSON answer, such as data.id or messages.0.id") { text in
            ValueRule<String>.text(upTo: 256).parse(text).flatMap { AnswerPath($0) }
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
