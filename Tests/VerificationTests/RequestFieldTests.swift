// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Verification

/// Each field at the edges of its rule.
@Suite struct RequestFieldTests {
    private static func quoted(_ text: String) -> String { "\"\(text)\"" }

    private static func long(_ count: Int, _ text: String = "a") -> String {
        quoted(String(repeating: text, count: count))
    }

    static let accepted: [(String, String)] =
        [
            ("tenant", quoted("a")), ("tenant", long(64)), ("tenant", quoted("A.z_0-9")),
            ("purpose", quoted("sign_up")), ("purpose", quoted("account_link")),
            ("purpose", quoted("app_verification")),
            ("channel", quoted("sms")), ("appName", long(40)), ("appName", long(40, "漢")), ("appName", quoted("A")),
            ("appName", quoted("St. Galler App 2.0")), ("appName", quoted("A.B. & Co.")), ("appName", quoted("Dr.9")),
            ("appName", quoted("قُل")), ("appName", quoted("Bet 365")), ("appName", quoted("می\u{200c}خوانم")),
            ("subject", long(128, "é")), ("subject", quoted("u")),
            ("client", "{}"), ("client", #"{"ip":"1.2.3.4"}"#), ("client", #"{"platform":"web"}"#),
            ("client", #"{"deviceId":"","appId":"","userAgent":""}"#), ("client", "{\"userAgent\":\(long(9000))}"),
            ("client", "{\"deviceId\":\(long(300)),\"appId\":\"\\n\"}"),
            ("appVerification", "{}"), ("appVerification", #"{"score":0}"#), ("appVerification", #"{"score":1}"#),
            ("appVerification", #"{"score":1.0,"method":"none","verdict":"fail"}"#),
            ("autofill", "{}"), ("autofill", #"{"androidAppHash":"abcdefghi+/"}"#),
            ("autofill", #"{"domain":"xn--bcher-kva.example"}"#), ("actionCode", "{}"),
            ("actionCode", #"{"url":"http://localhost:8080/x"}"#), ("actionCode", #"{"url":"HTTPS://a.de"}"#),
            ("actionCode", #"{"url":"https://a.de:443?x=@#y"}"#), ("requestedAt", quoted("2026-11-20T12:40:00Z")),
            ("requestedAt", quoted("2020-01-01T00:00:00Z")), ("deadline", quoted("2020-01-01T00:00:00Z")),
        ] + ["de", "tlh", "zh-Hant-TW", "es-419", "x-private", "de-CH-1996"].map { ("languageCode", quoted($0)) }

    @Test(arguments: accepted)
    func `a value inside its rule is accepted`(field: String, json: String) {
        let reading = RequestSample.read([(field, json)])
        #expect(reading.request != nil, "\(String(describing: reading.invalid?.field))")
    }

    static let refused: [(String, String, String)] = [
        ("tenant", quoted(""), "tenant"), ("tenant", long(65), "tenant"), ("tenant", quoted("a b"), "tenant"),
        ("tenant", quoted("ä"), "tenant"), ("tenant", "null", "tenant"), ("tenant", "{}", "tenant"),
        ("channel", quoted("SMS"), "channel"), ("channel", quoted(""), "channel"), ("channel", "true", "channel"),
        ("purpose", quoted("login"), "purpose"), ("purpose", "null", "purpose"), ("recipient", "[]", "recipient"),
        ("recipient", quoted("+16505553434"), "recipient"), ("recipient", "{}", "recipient.phoneNumber"),
        ("recipient", #"{"email":"a@b.de"}"#, "recipient.phoneNumber"),
        ("recipient", #"{"phoneNumber":16505553434}"#, "recipient.phoneNumber"),
        ("recipient", #"{"phoneNumber":"+16505553434","confirmed":"true"}"#, "recipient.confirmed"),
        ("recipient", #"{"phoneNumber":"+16505553434","confirmed":1}"#, "recipient.confirmed"),
        ("languageCode", quoted(""), "languageCode"), ("languageCode", quoted("de_DE"), "languageCode"),
        ("languageCode", "7", "languageCode"), ("appName", quoted(""), "appName"), ("appName", long(41), "appName"),
        ("appName", quoted("a\\nb"), "appName"), ("appName", quoted("a\\u0000"), "appName"),
        ("appName", quoted("a\\u202eb"), "appName"), ("appName", quoted("a\\u2066b"), "appName"),
        ("appName", quoted("a\\u200fb"), "appName"), ("appName", quoted("a\\u2028b"), "appName"),
        ("appName", quoted("http://x"), "appName"), ("appName", quoted("a WWW.b"), "appName"),
        ("appName", quoted("evil.com"), "appName"), ("appName", quoted("See 1.ly now"), "appName"),
        ("appName", quoted("évil.рф"), "appName"), ("appName", quoted("evil\u{3002}com"), "appName"),
        ("appName", quoted("cafe\u{301}.com"), "appName"), ("appName", quoted("evil.c\u{301}om"), "appName"),
        ("appName", quoted("i\u{2764}.ws"), "appName"), ("appName", quoted("i\u{2764}\u{fe0f}.ws"), "appName"),
        ("appName", quoted("evil\u{200c}.com"), "appName"), ("appName", quoted("evil\u{2024}com"), "appName"),
        ("appName", quoted("a\u{200b}b"), "appName"), ("appName", quoted("a\u{ad}b"), "appName"),
        ("appName", quoted("@Acme"), "appName"), ("appName", quoted("Acme＠home"), "appName"),
        ("appName", quoted("654321 is your"), "appName"), ("appName", quoted("6 5-4 3"), "appName"),
        ("appName", quoted("Acme ١٢٣٤"), "appName"), ("appName", "false", "appName"),
        ("subject", quoted(""), "subject"), ("subject", long(129), "subject"),
        ("subject", quoted("a\\u0007"), "subject"), ("subject", "5", "subject"), ("client", "null", "client"),
        ("client", #"{"ip":"1.2.3"}"#, "client.ip"), ("client", #"{"ip":""}"#, "client.ip"),
        ("client", #"{"ip":3}"#, "client.ip"), ("client", #"{"deviceId":7}"#, "client.deviceId"),
        ("client", #"{"appId":null}"#, "client.appId"), ("client", #"{"userAgent":{}}"#, "client.userAgent"),
        ("client", #"{"platform":"symbian"}"#, "client.platform"),
        ("appVerification", #"{"method":"magic"}"#, "appVerification.method"),
        ("appVerification", #"{"verdict":true}"#, "appVerification.verdict"),
        ("appVerification", #"{"score":1.0001}"#, "appVerification.score"),
        ("appVerification", #"{"score":-0.1}"#, "appVerification.score"),
        ("appVerification", #"{"score":"0.5"}"#, "appVerification.score"),
        ("autofill", #"{"domain":"https://a.de"}"#, "autofill.domain"),
        ("autofill", #"{"domain":"a.de/x"}"#, "autofill.domain"),
        ("autofill", #"{"domain":"a.de\n"}"#, "autofill.domain"),
        ("autofill", #"{"domain":"1.2.3.4"}"#, "autofill.domain"),
        ("autofill", #"{"domain":"localhost"}"#, "autofill.domain"),
        ("autofill", #"{"domain":"-a.de"}"#, "autofill.domain"),
        ("autofill", #"{"androidAppHash":"abcdefghijk="}"#, "autofill.androidAppHash"),
        ("autofill", #"{"androidAppHash":"abcdefghij"}"#, "autofill.androidAppHash"),
        ("autofill", #"{"androidAppHash":"abcdefghij_"}"#, "autofill.androidAppHash"),
        ("actionCode", #"{"url":"ftp://a.de"}"#, "actionCode.url"), ("actionCode", #"{"url":"/x"}"#, "actionCode.url"),
        ("actionCode", #"{"url":"https://a.de@evil.com/"}"#, "actionCode.url"),
        ("actionCode", #"{"url":"https://a.de\\@evil.com/"}"#, "actionCode.url"),
        ("actionCode", #"{"url":"https://a.de:99999/"}"#, "actionCode.url"),
        ("actionCode", #"{"url":"https://a.de:/"}"#, "actionCode.url"),
        ("actionCode", #"{"url":"https://"}"#, "actionCode.url"),
        ("actionCode", #"{"url":"https://a.de/ x"}"#, "actionCode.url"),
        ("actionCode", #"{"url":"https://[::1]/"}"#, "actionCode.url"),
        ("actionCode", #"{"linkDomain":"a"}"#, "actionCode.linkDomain"),
        ("actionCode", #"{"iosBundleId":"a_b"}"#, "actionCode.iosBundleId"),
        ("actionCode", #"{"androidPackageName":"a-b"}"#, "actionCode.androidPackageName"),
        ("actionCode", #"{"androidMinimumVersion":12}"#, "actionCode.androidMinimumVersion"),
        ("actionCode", #"{"androidInstallApp":"yes"}"#, "actionCode.androidInstallApp"),
        ("actionCode", #"{"handleCodeInApp":0}"#, "actionCode.handleCodeInApp"),
        ("requestedAt", "1700000000", "requestedAt"),
        ("requestedAt", quoted("yesterday"), "requestedAt"), ("deadline", quoted("2026-11-20"), "deadline"),
        ("deadline", "null", "deadline"),
    ]

    @Test(arguments: refused)
    func `a value outside its rule is refused by the field's path`(field: String, json: String, path: String) {
        let invalid = RequestSample.read([(field, json)]).invalid
        #expect(invalid?.field == path && invalid?.reason == .invalidRequest)
    }

    @Test(arguments: [
        "", "16505553434", "+0650555343", "+165055", "+1 650 555 3434", "+1650555343412345", "+1650FLOWERS",
        "+٤٤٦٥٠٥٥٥٣",
    ])
    func `a phone number that is no E164 has a reason of its own`(number: String) {
        let invalid = RequestSample.read([("recipient", "{\"phoneNumber\":\"\(number)\"}")]).invalid
        #expect(invalid?.field == "recipient.phoneNumber" && invalid?.reason == .invalidPhoneNumber)
    }

    @Test(arguments: Purpose.allCases)
    func `a purpose for a known account requires its subject`(purpose: Purpose) {
        let json = "\"\(purpose.rawValue)\""
        let without = RequestSample.read([("purpose", json)])
        #expect((without.invalid?.field == "subject") == purpose.requiresSubject)
        #expect((without.request == nil) == purpose.requiresSubject)
        #expect(RequestSample.read([("purpose", json), ("subject", #""u""#)]).request != nil)
        let names: Set<Purpose> = [.mfaEnrollment, .mfaSignIn, .reauthentication]
        #expect(purpose.requiresSubject == names.contains(purpose))
    }

    @Test func `every required field is missed by its name`() {
        #expect(RequestSample.read([("purpose", nil)]).invalid?.field == "purpose")
        #expect(RequestSample.read([("recipient", nil)]).invalid?.field == "recipient")
    }
}
