// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Providers

/// Checks that bodies which are valid for some messages only are rejected at the start.
@Suite struct GatewayBodyCheckTests {
    private static func fault(_ body: String, _ contentType: GatewayConfiguration.ContentType) throws -> String? {
        GatewayBodyCheck(template: try GatewayTemplate(body), contentType: contentType).fault
    }

    static let good: [(String, GatewayConfiguration.ContentType)] = [
        (
            #"{"to": "{to}", "text": "{text}", "ttl": {ttlSeconds}, "until": {expiresAtSeconds}, "n": {toDigits}}"#,
            .json
        ),
        (#"{"code": "{code}", "to": "{to}", "note": "{ not JSON", "list": ["<", "[{code}"], "from": "{from}"}"#, .json),
        // A code consists of digits, so it needs no escape at any depth.
        (#"{"to": "{to}", "data": "{\"code\": \"{code}\", \"to\": {toDigits}}"}"#, .json),
        (#"{"to": "{to}", "html": "<b>{code}</b>"}"#, .json), ("to={to}&text={text}", .form),
        (#"to={to}&data={"code":"{code}"}"#, .form), ("{to} {text}", .text), (#"{"to":"{to}","code":"{code}"}"#, .text),
        ("<sms to=\"{to}\" from='{from}'><text>{text}</text><code>{code}</code><e>{entityId}</e></sms>", .xml),
        (
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- a message -->\n<s:e xmlns:s=\"urn:s\"><s:t>Dear {text}</s:t>\n"
                + "<s:to>{toDigits}</s:to><s:none/></s:e>\n", .xml
        ),
    ]

    @Test(arguments: good) func `a body that holds for every message is taken`(
        body: String,
        contentType: GatewayConfiguration.ContentType
    ) throws {
        #expect(try Self.fault(body, contentType) == nil)
    }

    static let bad: [(String, GatewayConfiguration.ContentType, String)] = [
        // One code in ten starts with a zero, which JSON does not allow in a number.
        (#"{"to": "{to}", "code": {code}}"#, .json, "also with a code such as 012345"),
        (#"{"to": "{to}", "codes": [{code}]}"#, .json, "also with a code such as 012345"),
        (#"{"to": "{to}", "text": {text}}"#, .json, "must be JSON"),
        (#"{"to": {to}, "text": "{text}"}"#, .json, "must be JSON"),
        (#"{"to": "{to}", "e": {entityId}, "text": "{text}"}"#, .json, "must be JSON"),
        (#"{"data": "{\"to\": \"{to}\", \"text\": \"{text}\"}"}"#, .json, "holds JSON inside of a value"),
        (#"{"data": "{\"to\": \"{to}\", \"code\": {code}}"}"#, .json, "holds JSON inside of a value"),
        (#"[{"a": ["{\"b\": [\"{from}\", \"{text}\"]}"]}]"#, .json, "holds JSON inside of a value"),
        (#"{"data": "{\"a\": \"{\\\"t\\\": \\\"{text}\\\"}\"}"}"#, .json, "holds JSON inside of a value"),
        (#"{"data": "{\"to\": \"{to}\", \"text\": {text}}"}"#, .json, "holds JSON inside of a value"),
        (#"{"to": "{to}", "list": [["x"], [{"a": "[\"{text}\"]"}]]}"#, .json, "holds JSON inside of a value"),
        (#"{"to": "{to}", "{\"t\": \"{text}\"}": 1}"#, .json, "holds JSON inside of a value"),
        (#"{"to": "{to}", "text": "\"{text}\""}"#, .json, "holds JSON inside of a value"),
        (#"["<m><t>{\"a\": \"{text}\"}</t></m>", "{to}"]"#, .json, "holds XML inside of a value"),
        (#"to={to}&list=[{"text":"{text}"}]"#, .form, "holds JSON inside of a value"),
        (#"to={to}&data=%7B%22text%22:%22{text}%22%7D"#, .form, "holds JSON inside of a value"),
        (#"<m><to>{to}</to><data>{"text": "{text}"}</data></m>"#, .xml, "holds JSON inside of a value"),
        (#"<m to="{to}" data='["{text}"]'/>"#, .xml, "holds JSON inside of a value"),
        (#"{"to": "{to}", "ssml": "<speak>{text}</speak>"}"#, .json, "holds XML inside of a value"),
        (#"to={to}&data={"text":"{text}"}"#, .form, "holds JSON inside of a value"),
        ("to={to}&data=<t>{text}</t>", .form, "holds XML inside of a value"),
        ("to={to} &text={text}", .form, "must be a form"),
        (#"{"to":"{to}","text":"{text}"}"#, .text, "set contentType: application/json"),
        ("<sms><to>{to}</to><text>{text}</text></sms>", .text, "set contentType: application/xml"),
        ("<sms><to>{to}</to><text>{text}</sms>", .xml, "must be XML"), ("{to} {text}", .xml, "must be XML"),
        ("<sms to={to}>{text}</sms>", .xml, "must be XML"), ("<a>{to}</a><b>{text}</b>", .xml, "must be XML"),
        ("<s>{to} &nbsp; {text}</s>", .xml, "must be XML"), ("<s a='1' a='2'>{to}{text}</s>", .xml, "must be XML"),
        ("<s>{to}<![CDATA[{text}]]></s>", .xml, "must not name {text} in a comment"),
        ("<s>{to}{text}<!-- {code} --></s>", .xml, "must not name {code} in a comment"),
    ]

    @Test(arguments: [
        ("https://example.com/send?to={to}&data=%7B%22text%22%3A%22{text}%22%7D", true),
        ("https://example.com/send?data=%5B%7B%22code%22%3A%22{code}%22%7D%5D&to={to}", false),
        ("https://example.com/send?to={to}&text={text}", false),
    ])
    func `JSON in the query of an address holds no text of a message`(address: String, isFault: Bool) throws {
        let fault = GatewayBodyCheck.fault(ofAddress: try GatewayTemplate(address))
        #expect((fault?.contains("holds JSON inside of a value") ?? false) == isFault)
    }

    @Test func `a check names the line and the key of a value that holds JSON, and what to do`() {
        let body = """
            name: body
                kind: http
                url: "https://gateway.example.com/send"
                body: '{"to": "{to}", "data": ["{\\"text\\": \\"{text}\\"}"]}'
            """
        let query = """
            name: query
                kind: http
                method: GET
                url: "https://gateway.example.com/send?to={to}&data=%5B%22{text}%22%5D"
            """
        for (entry, key) in [(body, "body"), (query, "url")] {
            let lines = ModuleSettings(entry).lines
            #expect(lines.count == 1, "\(lines)")
            #expect(lines.first?.hasPrefix("courier.yaml:5: providers[0].\(key): holds JSON inside of a value") == true)
            #expect(lines.first?.contains("or use another body") == true)
        }
    }

    @Test(arguments: bad) func `a body that some message would break is refused with the reason`(
        body: String,
        contentType: GatewayConfiguration.ContentType,
        reason: String
    ) throws {
        let fault = try #require(try Self.fault(body, contentType))
        #expect(fault.contains(reason))
    }
}
