// SPDX-License-Identifier: Apache-2.0

import Providers
import Testing
import Verification

@Suite struct `The answers of Vonage` {
    private static let statuses: [(ProviderOutcome, [Int])] = [
        (.misconfigured, [2, 4, 8, 9, 11, 14, 16, 19, 23, 32]),
        (.refused, [3, 6, 7, 12, 15, 17, 20, 22, 29, 34, 18, 99, 101, 9999]),
        (.impossible, [33]),
        (.throttled, [1, 10]),
        (.notSent, [13]),
        (.unknown, [5]),
    ]

    private static let codes: [(ProviderOutcome, [String])] = [
        (
            .misconfigured,
            [
                "1010", "1060", "1070", "1080", "1110", "1130", "1140", "1242", "1400", "1420", "1440", "1450", "1476",
                "accept-header", "account-suspended", "application-suspended", "content-type-header", "forbidden",
                "invalid-api-key", "invalid-id", "invalid-ip", "invalid-json", "invalid-signature", "jwt-expired",
                "jwt-revoked", "low-balance", "multiple-auth-methods", "not-found", "unauthorized", "unprovisioned",
                "wrong-verb",
            ]
        ),
        (
            .refused,
            [
                "1020", "1040", "1050", "1090", "1120", "1160", "1170", "1180", "1200", "1210", "1220", "1270",
                "1280", "1282", "1290", "1410", "1430", "1480", "1481", "1482", "1483", "1484", "invalid-params",
                "unavailable-legal",
            ]
        ),
        (.impossible, ["1190", "1250", "1251", "1260", "1300", "1310"]),
        (.optedOut, ["1240"]),
        (.throttled, ["1000", "1241", "1460", "1461", "throttled", "rate-limit"]),
        (.fraud, ["1470", "1472", "1473", "1474", "1475", "2001"]),
        (.notSent, ["1100"]),
        (.unknown, ["1030", "1320", "1331"]),
    ]

    private static func parts(_ parts: [String]) -> String {
        #"{"message-count": "\#(parts.count)", "messages": [\#(parts.joined(separator: ", "))]}"#
    }

    private static func part(_ status: String, id: String? = nil) -> String {
        let id = id.map { #", "message-id": "\#($0)""# } ?? ""
        return #"{"status": \#(status)\#(id), "error-text": "to +16505550123", "to": "16505550123"}"#
    }

    private func sms(_ parts: [String], status: String = "200 OK") async throws -> ProviderAnswer {
        try await ModuleSample.vonageSMS.exchange([answer(status, Self.parts(parts))]).answer
    }

    @Test func `map every status of the SMS API to its outcome`() async throws {
        let cases = Self.statuses.flatMap { outcome, statuses in statuses.map { (outcome, $0) } }
        try await ScriptedServer.with(cases.map { answer("200 OK", Self.parts([Self.part("\"\($0.1)\"")])) }) {
            server in
            try await ModuleSample.vonageSMS.with(baseURL: server.url) { provider in
                for (outcome, status) in cases {
                    let answer = await provider.send(try message())
                    #expect(answer == ProviderAnswer(outcome, errorCode: String(status)), "status \(status)")
                }
            }
        }
    }

    @Test(arguments: [
        ("0", ProviderOutcome.accepted), (#""0""#, .accepted), (#"" 0 ""#, .accepted), ("0.0", .accepted),
        (#""""#, .accepted), ("null", .accepted), ("{}", .accepted), ("4", .misconfigured), (#""4 ""#, .misconfigured),
        ("4.0", .refused), ("-1", .refused), ("18446744073709551616", .refused), (#""later""#, .refused),
    ])
    func `read a status of the SMS API however it is written`(status: String, outcome: ProviderOutcome) async throws {
        #expect(try await sms([Self.part(status, id: "0A1")]).outcome == outcome)
        let alone = #"{"messages": \#(Self.part(status, id: "0A1"))}"#
        #expect(try await ModuleSample.vonageSMS.exchange([answer("200 OK", alone)]).answer.outcome == outcome)
    }

    @Test func `map every code of the Messages API to its outcome`() async throws {
        let cases = Self.codes.flatMap { outcome, codes in codes.map { (outcome, $0) } }
        let script = cases.map {
            let type = "https://developer.vonage.com/api-errors/messages#\($0.1)"
            return answer("422 No", #"{"type": "\#(type)", "title": "t", "detail": "+16505550123"}"#)
        }
        try await ScriptedServer.with(script) { server in
            try await ModuleSample.vonageMessages.with(baseURL: server.url) { provider in
                for (outcome, code) in cases {
                    let answer = await provider.send(try message())
                    // These codes concern only this number or its carrier, so other messages need not wait.
                    let isOfMessage = ["1241", "1320", "1331", "1461"].contains(code)
                    #expect(
                        answer == ProviderAnswer(outcome, errorCode: code, isOfMessage: isOfMessage),
                        "code \(code)"
                    )
                }
            }
        }
    }

    @Test func `take a message when every part is taken`() async throws {
        let answer = try await sms([Self.part("\"0\"", id: "A1"), Self.part("0", id: "A2"), Self.part("\"0\"")])
        #expect(answer == ProviderAnswer(.accepted, messageID: "A1", segments: 3))
    }

    @Test func `leave a message unknown when only some parts are taken`() async throws {
        let first = try await sms([Self.part("\"0\"", id: "A1"), Self.part("\"1\"")])
        #expect(first == ProviderAnswer(.unknown, messageID: "A1", errorCode: "1", isOfMessage: true))
        let last = try await sms([Self.part("\"6\""), Self.part("\"0\"", id: "A2")])
        #expect(last == ProviderAnswer(.unknown, messageID: "A2", errorCode: "6", isOfMessage: true))
    }

    @Test func `refuse a message when every part is refused`() async throws {
        let refused = try await sms([Self.part("\"6\""), Self.part("\"1\"")])
        #expect(refused == ProviderAnswer(.refused, errorCode: "6"))
        let failed = try await sms([Self.part("\"5\""), Self.part("\"6\"")])
        #expect(failed == ProviderAnswer(.unknown, errorCode: "5"))
        let doubtful = try await sms([Self.part("\"6\""), Self.part("\"5\"")])
        #expect(doubtful == ProviderAnswer(.unknown, errorCode: "5"))
    }

    @Test(arguments: ["null", "\"\"", "true", "[]", "0.0", "\"00\""])
    func `take a message of which a part says nothing against it`(status: String) async throws {
        let answer = try await sms([Self.part(status, id: "A1")])
        #expect(answer == ProviderAnswer(.accepted, messageID: "A1", segments: 1))
    }

    @Test(arguments: ["\"zero\"", "-1", "1e2", "99999"])
    func `refuse a message with any other status than zero`(status: String) async throws {
        #expect(try await sms([Self.part(status, id: "A1")]).outcome == .refused)
    }

    @Test func `never take a message with an error's HTTP status`() async throws {
        let refused = try await sms([Self.part("\"0\"", id: "A1")], status: "400 Bad")
        #expect(refused == ProviderAnswer(.refused, errorCode: "http_400"))
        let unauthorized = try await sms([Self.part("\"4\"")], status: "401 No")
        #expect(unauthorized == ProviderAnswer(.misconfigured, errorCode: "4"))
        let broken = try await sms([Self.part("\"4\"")], status: "500 Oops")
        #expect(broken == ProviderAnswer(.unknown, errorCode: "http_500"))
    }

    @Test func `with a known code and a server error stay unknown`() async throws {
        let (answer, _) = try await ModuleSample.vonageMessages.exchange([
            answer("500 Oops", ##"{"type": "https://developer.vonage.com/api-errors/messages#1120"}"##)
        ])
        #expect(answer == ProviderAnswer(.unknown, errorCode: "1120"))
    }

    @Test(arguments: ["+16505550123", "16505550123", "a b", "", "#1"])
    func `give no code that may be a number or a text`(code: String) async throws {
        let (answer, _) = try await ModuleSample.vonageMessages.exchange([
            answer("422 No", #"{"type": "https://developer.vonage.com/api-errors#\#(code)"}"#)
        ])
        #expect(answer == ProviderAnswer(.refused, errorCode: "http_422"))
    }
}
