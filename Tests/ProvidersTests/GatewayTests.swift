// SPDX-License-Identifier: Apache-2.0

import Formats
import Foundation
import Logs
import Testing
import Verification

@testable import Providers

@Suite struct `A gateway by configuration` {
    // MARK: Requests

    @Test func `gets JSON in which every value is escaped`() async throws {
        let kind = ModuleSample.gateway(
            body:
                #"{"to": "{to}", "n": "{toDigits}", "text": "{text}", "id": "{sendId}", "ttl": {ttlSeconds}, "o": {}}"#
        )
        let request = try await kind.request(message(text: "\"654321\" \\ {to}\n", validity: .milliseconds(61_900)))
        #expect(request.head.hasPrefix("POST /send?v=2 HTTP/1.1\r\n"))
        #expect(request.header("content-type") == "application/json")
        #expect(request.header("idempotency-key") == "01890a5d-ac96-774b-bcce-b302099a8057")
        #expect(
            request.body == """
                {"to": "+16505550123", "n": "16505550123", "text": "\\"654321\\" \\\\ {to}\\n", \
                "id": "01890a5d-ac96-774b-bcce-b302099a8057", "ttl": 61, "o": {}}
                """
        )
    }

    @Test func `gets a form in which every value is escaped`() async throws {
        let kind = ModuleSample.gateway(body: "to={to}&text={text}&from={from}&pe={entityId}&te={templateId}") {
            $0.contentType = .form
            $0.from = "A&B"
            $0.method = .put
        }
        let request = try await kind.request(message(text: "a=b&c+é"))
        #expect(request.head.hasPrefix("PUT /send?v=2 HTTP/1.1\r\n"))
        #expect(request.header("content-type") == "application/x-www-form-urlencoded")
        #expect(request.body == "to=%2B16505550123&text=a%3Db%26c%2B%C3%A9&from=A%26B&pe=&te=")
    }

    @Test func `gets XML in which every value is escaped`() async throws {
        let kind = ModuleSample.gateway(body: "<sms to='{to}' from=\"{from}\"><text>{text}</text></sms>") {
            $0.contentType = .xml
            $0.from = "A\"'B"
        }
        let request = try await kind.request(message(text: "1 < 2 & \"3\" > 😀\n]]>\u{1}"))
        #expect(request.header("content-type") == "application/xml; charset=utf-8")
        #expect(
            request.body == "<sms to='+16505550123' from=\"A&quot;&apos;B\">"
                + "<text>1 &lt; 2 &amp; &quot;3&quot; &gt; 😀&#10;]]&gt;</text></sms>"
        )
    }

    @Test func `gets its headers, with variables in them`() async throws {
        let kind = ModuleSample.gateway {
            $0.headers = Self.headers(["Authorization": "Bearer {secret}", "X-To": "{to}", "Accept": "text/plain"])
            $0.idempotencyHeader = "X-Id"
        }
        let request = try await kind.request()
        #expect(request.header("authorization") == "Bearer \(token)")
        #expect(request.header("x-to") == "+16505550123")
        #expect(request.header("accept") == "text/plain")
        #expect(request.header("x-id") == "01890a5d-ac96-774b-bcce-b302099a8057")
        #expect(request.header("idempotency-key") == nil)
    }

    @Test func `gets one trace, its own where it names one`() async throws {
        let own = "00-11111111111111111111111111111111-2222222222222222-01"
        let kind = ModuleSample.gateway { $0.headers = Self.headers(["Traceparent": own]) }
        let text = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        let trace = try #require(TraceContext(traceparent: Array(text.utf8)))
        let request = try await kind.request(message(within: .seconds(30), trace: trace))
        #expect(request.head.lowercased().components(separatedBy: "traceparent:").count == 2)
        #expect(request.header("traceparent") == own)
    }

    @Test func `gets nothing when a variable would make two headers of one`() async throws {
        let kind = ModuleSample.gateway { $0.headers = Self.headers(["X-Text": "{text}"]) }
        let script = [ProvidersTests.answer("200 OK", kind.success)]
        let (answer, seen) = try await kind.exchange(script, message(text: "1\r\nX-To: +1", within: .seconds(30)))
        #expect(answer == ProviderAnswer(.misconfigured, errorCode: "invalid_url"))
        #expect(seen.requests.isEmpty)
    }

    private static func headers(_ values: KeyValuePairs<String, String>) -> [GatewayConfiguration.Header] {
        values.compactMap { name, value in
            (try? GatewayTemplate(value)).map { GatewayConfiguration.Header(name: name, value: $0) }
        }
    }

    @Test func `may be called again for an unknown outcome only when it says so`() async throws {
        for isIdempotent in [true, false] {
            let kind = ModuleSample.gateway { $0.isIdempotent = isIdempotent }
            try await kind.with(baseURL: "http://127.0.0.1:1") { #expect($0.isIdempotent == isIdempotent) }
        }
        try await ModuleSample.vonageSMS.with(baseURL: "http://127.0.0.1:1") { #expect(!$0.isIdempotent) }
        try await ModuleSample.sns.with(baseURL: "http://127.0.0.1:1") { #expect(!$0.isIdempotent) }
    }

    // MARK: Templates

    @Test(arguments: ["{tos}", "a {name} b", "{\"a\": \"{To}\"}", "{{unknown}}"])
    func `has no template with an unknown variable`(text: String) {
        #expect(throws: GatewayTemplate.UnknownVariable.self) { try GatewayTemplate(text) }
    }

    @Test(arguments: ["", "{", "}", "{}", "{ to }", "{to", "{to:1}", "{\"to\":1}", "{ö}", "{send-id}", "{1}"])
    func `leaves other braces as they are`(text: String) throws {
        let template = try GatewayTemplate(text)
        #expect(template.variables.isEmpty)
        #expect(template.filled([.to: "x"], escaping: .none) == text)
    }

    @Test func `fills every place once, and none with what stands in a value`() throws {
        let template = try GatewayTemplate("{{to}}{text}{to}")
        #expect(template.filled([.to: "{text}", .text: "{to}"], escaping: .none) == "{{text}}{to}{text}")
        #expect(template.description == "template of text, to")
    }

    // MARK: Answers

    private static let rules = [
        rule(200...200, ["status": "queued"], .accepted), rule(200...200, ["error.code": "12"], .refused),
        rule(200...200, ["error.fraud": "true"], .fraud), rule(200...299, ["errors.0": "busy"], .throttled),
        rule(503...503, [:], .notSent), rule(200...299, ["data.id": "msg_9"], .impossible),
    ].compactMap(\.self)

    private static func rule(
        _ statuses: ClosedRange<Int>,
        _ match: [String: String],
        _ outcome: ProviderOutcome
    ) -> AnswerRule? {
        let pairs = match.compactMap { path, value in AnswerPath(path).map { ($0, value) } }
        return AnswerRule(statuses: statuses, match: Dictionary(pairs) { first, _ in first }, outcome: outcome)
    }

    @Test(arguments: [
        ("200 OK", #"{"status": "queued"}"#, ProviderAnswer(.accepted)),
        (
            "200 OK", #"{"status": "queued", "data": {"id": "m", "parts": "3"}}"#,
            ProviderAnswer(.accepted, messageID: "m", segments: 3)
        ),
        ("201 Made", #"{"status": "queued"}"#, ProviderAnswer(.accepted)),
        ("200 OK", #"{"error": {"code": 12}}"#, ProviderAnswer(.refused, errorCode: "12")),
        ("200 OK", #"{"error": {"code": "12"}}"#, ProviderAnswer(.refused, errorCode: "12")),
        ("200 OK", #"{"error": {"code": 12.0}}"#, ProviderAnswer(.accepted)),
        ("200 OK", #"{"error": {"fraud": true}}"#, ProviderAnswer(.fraud, errorCode: "http_200")),
        ("202 OK", #"{"errors": ["busy"]}"#, ProviderAnswer(.throttled, errorCode: "http_202")),
        ("202 OK", #"{"errors": []}"#, ProviderAnswer(.accepted)),
        ("503 No", "", ProviderAnswer(.notSent, errorCode: "http_503")),
        ("502 No", "", ProviderAnswer(.unknown, errorCode: "http_502")),
        ("422 No", #"{"error": {"code": "bad_number"}}"#, ProviderAnswer(.refused, errorCode: "bad_number")),
        (
            "200 OK", #"{"data": {"id": "msg_9"}}"#,
            ProviderAnswer(.impossible, messageID: "msg_9", errorCode: "http_200")
        ),
        ("200 OK", #"{"data": {"id": 42}}"#, ProviderAnswer(.accepted, messageID: "42")),
    ])
    func `gives answers that the first fitting rule decides`(
        status: String,
        body: String,
        expected: ProviderAnswer
    ) async throws {
        let kind = ModuleSample.gateway { $0.answers = Self.rules }
        let (answer, seen) = try await kind.exchange([answer(status, body)])
        #expect(answer == expected)
        #expect(seen.requests.count == 1)
    }

    @Test func `gives no id or code that repeats the number`() async throws {
        let (taken, _) = try await ModuleSample.gateway().exchange([
            answer("200 OK", #"{"data": {"id": "sms-16505550123"}}"#)
        ])
        #expect(taken == ProviderAnswer(.accepted))
        let (spelt, _) = try await ModuleSample.gateway().exchange([
            answer("200 OK", #"{"data": {"id": "+1 (650) 555-0123/7"}}"#)
        ])
        #expect(spelt == ProviderAnswer(.accepted))
        let (refused, _) = try await ModuleSample.gateway().exchange([
            answer("400 Bad", #"{"error": {"code": "no_6505550123"}}"#)
        ])
        #expect(refused == ProviderAnswer(.refused, errorCode: "http_400"))
    }

    @Test(arguments: [
        "$.id", "ids[0]", "/data/id", "data.*", "a b", "$", "['id']", "data.id.text()", "{id}", "items.#.id",
        "data?.id",
        "list.-1", "data->id", "a|b", "data,id", "id;", "id=1",
    ])
    func `has no path of another notation, which would never be found`(text: String) {
        #expect(AnswerPath(text) == nil)
    }

    @Test(arguments: ["", ".", "a.", ".a", "a..b", Array(repeating: "a", count: 17).joined(separator: ".")])
    func `has no path with an empty step or too many`(text: String) {
        #expect(AnswerPath(text) == nil)
    }

    @Test(arguments: ["data.0", "list.9", "list.x", "data.id.x", "none"])
    func `gives nothing at a path that leads nowhere`(path: String) async throws {
        let kind = ModuleSample.gateway { $0.messageID = AnswerPath(path).map { .path($0) } }
        let (answer, _) = try await kind.exchange([answer("200 OK", #"{"data": {"id": "m"}, "list": ["n"]}"#)])
        #expect(answer == ProviderAnswer(.accepted))
    }

    @Test func `gives the id in a list`() async throws {
        let kind = ModuleSample.gateway { $0.messageID = AnswerPath("0.id").map { .path($0) } }
        let (answer, _) = try await kind.exchange([answer("200 OK", #"[{"id": "m"}]"#)])
        #expect(answer == ProviderAnswer(.accepted, messageID: "m"))
    }

    @Test func `is called by GET, with all in the address and nothing behind it`() async throws {
        let url = "/send?to={toDigits}&text={text}&code={code}&key={secret}&until={expiresAtSeconds}"
        let kind = ModuleSample.gateway(path: url) {
            $0.method = .get
            $0.body = nil
        }
        let request = try await kind.request(try Self.coded("a b+c&é", code: "654321"))
        let line = try #require(request.head.split(separator: "\r\n").first)
        let start = "GET /send?to=16505550123&text=a%20b%2Bc%26%C3%A9&code=654321&key=\(token)&until="
        #expect(line.hasPrefix(start))
        let end = try #require(Int64(line.dropFirst(start.count).prefix { $0 != " " }))
        let expected = Timestamp.now.microseconds / 1_000_000 + 600
        #expect(abs(expected - end) < 60)
        #expect(request.header("content-length") == nil)
        #expect(request.header("content-type") == nil)
        #expect(request.body.isEmpty)
    }

    @Test func `gets a text as it is, a code alone, and a login`() async throws {
        let kind = ModuleSample.gateway(path: "/send/{to}") {
            $0.contentType = .text
            $0.body = try? GatewayTemplate("{code} until {expiresAt}")
            $0.basicAuth = Secret("user:pass:word")
        }
        let request = try await kind.request(try Self.coded("x", code: "012345"))
        #expect(request.head.hasPrefix("POST /send/%2B16505550123 HTTP/1.1\r\n"))
        #expect(request.header("content-type") == "text/plain; charset=utf-8")
        #expect(request.header("authorization") == "Basic dXNlcjpwYXNzOndvcmQ=")
        #expect(request.body.wholeMatch(of: /012345 until \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/) != nil)
    }

    /// Answers of gateways that do not use JSON.
    @Test(arguments: [
        ("OK: 4711", ProviderAnswer(.accepted, messageID: "4711")),
        ("ERR: 105, no credit", ProviderAnswer(.misconfigured, errorCode: "105")),
        ("FAILED 7", ProviderAnswer(.refused, errorCode: "http_200")),
        ("something else", ProviderAnswer(.accepted)),
        ("", ProviderAnswer(.accepted)),
    ])
    func `gives a text that rules and patterns are looked for in`(body: String, expected: ProviderAnswer) async throws {
        let kind = ModuleSample.gateway {
            $0.messageID = AnswerPattern("OK: ([0-9]+)").map { .pattern($0) }
            $0.errorCode = AnswerPattern("ERR: ([0-9]+)").map { .pattern($0) }
            $0.answers = [
                AnswerRule(statuses: 200...299, pattern: AnswerPattern("^ERR: 10[0-9]"), outcome: .misconfigured),
                AnswerRule(statuses: 200...299, text: "FAILED", outcome: .refused),
            ]
        }
        #expect(try await kind.exchange([answer("200 OK", body)]).answer == expected)
    }

    @Test func `gives a text of several lines, whatever ends them`() async throws {
        let kind = ModuleSample.gateway {
            $0.messageID = AnswerPattern(#"OK\r?\n(\S+)"#).map { .pattern($0) }
            $0.answers = [AnswerRule(statuses: 200...200, text: "NO\n", outcome: .refused)]
        }
        for end in ["\n", "\r\n"] {
            let taken = try await kind.exchange([answer("200 OK", "OK\(end)m/1\u{301}==\(end)")]).answer
            #expect(taken == ProviderAnswer(.accepted, messageID: "m/1\u{301}=="))
        }
        #expect(try await kind.exchange([answer("200 OK", "NO\n\u{301}")]).answer.outcome == .refused)
    }

    @Test func `gives XML whose elements are found like the members of JSON`() async throws {
        let kind = ModuleSample.gateway {
            $0.messageID = AnswerPath("response.id").map { .path($0) }
            $0.errorCode = AnswerPath("response.error").map { .path($0) }
            $0.answers = [Self.rule(200...200, ["response.status": "-1"], .refused)].compactMap(\.self)
        }
        let head = "\u{FEFF}<?xml version=\"1.0\"?>\n<response>"
        let taken = "\(head)<status>0</status><id>m 1/2==</id></response>"
        #expect(
            try await kind.exchange([answer("200 OK", taken)]).answer == ProviderAnswer(.accepted, messageID: "m 1/2==")
        )
        let refused = "\(head)<status>-1</status><error>bad_number</error></response>"
        #expect(
            try await kind.exchange([answer("200 OK", refused)]).answer
                == ProviderAnswer(.refused, errorCode: "bad_number")
        )
    }

    @Test func `leaves a cut answer in doubt where its body alone tells, and nothing against the gateway`() async throws
    {
        let cut = ServerStep.answerAndFinish("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
        let byBody = ModuleSample.gateway { $0.answers = Self.rules }
        let inDoubt = try await byBody.exchange([cut]).answer
        #expect(inDoubt.outcome == .unknown && inDoubt.isOfMessage)
        #expect(try await ModuleSample.gateway().exchange([cut]).answer == ProviderAnswer(.accepted))
    }

    private static func coded(_ text: String, code: String) throws -> OutboundMessage {
        let recipient = try #require(PhoneNumber("+16505550123"))
        return OutboundMessage(
            sendID: try ProvidersTests.message().sendID,
            content: .sms(TextMessage(recipient: recipient, text: text, code: code)),
            validity: .seconds(600),
            callDeadline: .seconds(30),
            leaveBy: .now + .seconds(60)
        )
    }
}
