// SPDX-License-Identifier: Apache-2.0

import Providers
import Testing
import Verification

@Suite struct `The answers of Twilio` {
    private static let codes: [(ProviderOutcome, [Int])] = [
        (.fraud, [30450, 30453, 60410, 60605]),
        (.refused, [21211, 21215, 21216, 21217, 21604, 21608, 21617, 30004, 30007, 60200]),
        (.impossible, [21408, 21612, 21614, 21635]),
        (.optedOut, [21610]),
        (.throttled, [14107, 20429, 21611, 30001, 30022]),
        (
            .misconfigured,
            [
                20003, 20005, 20008, 20404, 21212, 21603, 21606, 21609, 14105, 21659, 21660, 21701, 21703, 21704, 21705,
                30002, 30032, 30034,
            ]
        ),
    ]

    @Test func `map every known code to its outcome, and the connection is kept`() async throws {
        let cases = Self.codes.flatMap { outcome, codes in codes.map { (outcome, $0) } }
        let script = cases.map {
            answer("400 Bad Request", #"{"code": \#($0.1), "message": "+16505550123", "status": 400}"#)
        }
        try await ScriptedServer.with(script) { server in
            try await ModuleSample.twilio.with(baseURL: server.url) { provider in
                for (outcome, code) in cases {
                    let answer = await provider.send(try message())
                    let expected = ProviderAnswer(outcome, errorCode: String(code), isOfMessage: code == 14107)
                    #expect(answer == expected, "code \(code)")
                }
            }
            #expect(server.seen.requests.count == cases.count)
            #expect(server.seen.connections == 1)
        }
    }

    @Test(arguments: [
        ("400 Bad Request", "10001", ProviderOutcome.misconfigured), ("400 Bad Request", "10999", .misconfigured),
        ("400 Bad Request", "20999", .misconfigured), ("403 Forbidden", "20003", .misconfigured),
        ("400 Bad Request", "\"20003\"", .misconfigured), ("429 Slow Down", "20999", .throttled),
        ("429 Slow Down", "10004", .throttled), ("408 Timeout", "20408", .unknown), ("503 Busy", "20503", .unknown),
        ("400 Bad Request", "30999", .refused), ("400 Bad Request", "21999", .refused),
        ("401 No", "99999", .misconfigured),
        ("400 Bad Request", "20429", .throttled), ("400 Bad Request", "30008", .refused),
    ])
    func `with a code of a later day are judged by its class and the status`(
        status: String,
        code: String,
        outcome: ProviderOutcome
    ) async throws {
        let body = #"{"code": \#(code), "message": "to +16505550123", "status": 400}"#
        let plain = code.filter { $0 != "\"" }
        #expect(
            try await ModuleSample.twilio.exchange([answer(status, body)]).answer
                == ProviderAnswer(outcome, errorCode: plain)
        )
    }

    @Test func `with a known code and a server error stay unknown`() async throws {
        let (answer, _) = try await ModuleSample.twilio.exchange([answer("500 Oops", #"{"code": 21211}"#)])
        #expect(answer == ProviderAnswer(.unknown, errorCode: "21211"))
    }

    @Test(arguments: [
        "", "{", #"{"sid": "SM1"#, "<html>ok</html>", "[]", "null", "1", #"{"sid": null}"#, #"{"sid": []}"#,
        #"{"sid": ""}"#,
        #"{"sid": "\#(String(repeating: "S", count: 257))"}"#, #"{"num_segments": 1e999}"#,
        String(repeating: "[", count: 60_000), #"{"a":"# + String(repeating: #"{"a":"#, count: 10_000),
    ])
    func `that say success without a readable id have taken the message`(body: String) async throws {
        let (answer, seen) = try await ModuleSample.twilio.exchange([answer("200 OK", body)])
        #expect(answer == ProviderAnswer(.accepted))
        #expect(seen.requests.count == 1)
    }

    @Test func `that are not UTF-8 do no harm`() async throws {
        let bytes = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n\u{1}\u{2}\u{0}"
        let (answer, _) = try await ModuleSample.twilio.exchange([.answer(bytes)])
        #expect(answer == ProviderAnswer(.accepted))
    }

    @Test(arguments: [
        (#"{"sid": "SM1", "status": "failed", "error_code": 30450}"#, ProviderAnswer(.fraud, errorCode: "30450")),
        (#"{"sid": "SM1", "status": "queued", "error_code": "21610"}"#, ProviderAnswer(.optedOut, errorCode: "21610")),
        (#"{"sid": "SM1", "status": "undelivered"}"#, ProviderAnswer(.refused, errorCode: "http_201")),
        (#"{"code": 20003, "message": "Authenticate"}"#, ProviderAnswer(.misconfigured, errorCode: "20003")),
    ])
    func `that say success and tell of a refusal in their own words refuse`(
        body: String,
        expected: ProviderAnswer
    ) async throws {
        #expect(try await ModuleSample.twilio.exchange([answer("201 Created", body)]).answer == expected)
    }

    @Test(arguments: [
        (#""3""#, 3), ("3", 3), ("-1", nil), ("0", nil), ("101", nil), ("1e999", nil), ("3.5", nil), (#""x""#, nil),
        ("99999999999999999999999999", nil), ("[]", nil), ("null", nil),
    ])
    func `give the number of parts only when it is one`(segments: String, expected: Int?) async throws {
        let (answer, _) = try await ModuleSample.twilio.exchange([
            answer("201 Created", #"{"num_segments": \#(segments), "sid": "SM1"}"#)
        ])
        #expect(answer == ProviderAnswer(.accepted, messageID: "SM1", segments: expected))
    }

    @Test func `that redirect are not followed`() async throws {
        try await ScriptedServer.with([created]) { target in
            let step = answer("307 Temporary Redirect", "", headers: "Location: \(target.url)/elsewhere\r\n")
            let (answer, seen) = try await ModuleSample.twilio.exchange([step])
            #expect(answer == ProviderAnswer(.misconfigured, errorCode: "http_307"))
            #expect(seen.requests.count == 1)
            #expect(target.seen.connections == 0)
        }
    }
}
