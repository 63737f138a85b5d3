// SPDX-License-Identifier: Apache-2.0

import Formats
import Testing

@testable import Verification

/// Tests each field at the limits of its rule.
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
            ("appName", quoted("a\\u202eb")), ("appName", quoted("a\\u2066b")), ("appName", quoted("a\\u200fb")),
            ("appName", quoted("a\u{200b}b")), ("appName", quoted("a\u{ad}b")), ("appName", quoted("L’Oréal…")),
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
        ("tenant", long(65), "tenant"), ("tenant", quoted("a b"), "tenant"),
        ("tenant", quoted("ä"), "tenant"), ("tenant", "{}", "tenant"),
        ("channel", quoted("SMS"), "channel"), ("channel", "true", "channel"),
        ("purpose", quoted("login"), "purpose"), ("purpose", "null", "purpose"), ("recipient", "[]", "recipient"),
        ("recipient", quoted("+16505553434"), "recipient"), ("recipient", "{}", "recipient.phoneNumber"),
        ("recipient", #"{"email":"a@b.de"}"#, "recipient.phoneNumber"),
        ("recipient", #"{"phoneNumber":16505553434}"#, "recipient.phoneNumber"),
        ("recipient", #"{"phoneNumber":"+16505553434","confirmed":"true"}"#, "recipient.confirmed"),
        ("recipient", #"{"phoneNumber":"+16505553434","confirmed":1}"#, "recipient.confirmed"),
        ("subject", long(129), "subject"),
        ("subject", quoted("a\\u0007"), "subject"), ("subject", "5", "subject"),
        ("appVerification", #"{"method":"magic"}"#, "appVerification.method"),
        ("appVerification", #"{"verdict":true}"#, "appVerification.verdict"),
        ("appVerification", #"{"score":1.0001}"#, "appVerification.score"),
        ("appVerification", #"{"score":-0.1}"#, "appVerification.score"),
        ("appVerification", #"{"score":"0.5"}"#, "appVerification.score"),
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

    ]

    @Test(arguments: refused)
    func `a value outside its rule is refused by the field's path`(field: String, json: String, path: String) {
        let invalid = RequestSample.read([(field, json)]).invalid
        #expect(invalid?.field == path && invalid?.reason == .invalidRequest)
    }

    /// Unreadable optional hints, with the names under which they are counted.
    static let unread: [(String, String, [String])] = [
        ("languageCode", quoted("C"), ["languageCode"]), ("languageCode", quoted("*"), ["languageCode"]),
        ("languageCode", quoted("de;q=0"), ["languageCode"]), ("languageCode", quoted("тест"), ["languageCode"]),
        ("languageCode", "7", ["languageCode"]), ("languageCode", "[]", ["languageCode"]),
        ("appName", long(41), ["appName"]), ("appName", "false", ["appName"]), ("appName", "{}", ["appName"]),
        ("appName", quoted("a\\nb"), ["appName"]), ("appName", quoted("a\\u0000"), ["appName"]),
        ("appName", quoted("a\\u2028b"), ["appName"]), ("appName", quoted("evil\\u202e.com"), ["appName"]),
        ("appName", quoted("http://x"), ["appName"]), ("appName", quoted("a WWW.b"), ["appName"]),
        ("appName", quoted("evil.com"), ["appName"]), ("appName", quoted("See 1.ly now"), ["appName"]),
        ("appName", quoted("évil.рф"), ["appName"]), ("appName", quoted("evil\u{3002}com"), ["appName"]),
        ("appName", quoted("cafe\u{301}.com"), ["appName"]), ("appName", quoted("evil.c\u{301}om"), ["appName"]),
        ("appName", quoted("i\u{2764}.ws"), ["appName"]), ("appName", quoted("i\u{2764}\u{fe0f}.ws"), ["appName"]),
        ("appName", quoted("evil\u{200c}.com"), ["appName"]), ("appName", quoted("evil\u{2024}com"), ["appName"]),
        ("appName", quoted("\u{200b}"), ["appName"]), ("appName", quoted("1\u{200b}2\u{ad}34"), ["appName"]),
        ("appName", quoted("@Acme"), ["appName"]), ("appName", quoted("Acme＠home"), ["appName"]),
        ("appName", quoted("654321 is your"), ["appName"]), ("appName", quoted("6 5-4 3"), ["appName"]),
        ("appName", quoted("Acme ١٢٣٤"), ["appName"]),
        ("client", quoted("web"), ["client"]), ("client", "[1]", ["client"]), ("client", "3", ["client"]),
        ("client", #"{"ip":"1.2.3","platform":"symbian"}"#, ["client.ip", "client.platform"]),
        ("client", #"{"ip":3}"#, ["client.ip"]), ("client", #"{"ip":"1.2.3.4:x"}"#, ["client.ip"]),
        ("client", #"{"ip":"1.2.3.4, 5.6.7.8"}"#, ["client.ip"]), ("client", #"{"ip":"[::1]x"}"#, ["client.ip"]),
        (
            "client", #"{"deviceId":7,"appId":[],"userAgent":{}}"#,
            ["client.deviceId", "client.appId", "client.userAgent"]
        ),
        ("autofill", #"{"domain":"https://a.de"}"#, ["autofill.domain"]),
        ("autofill", #"{"domain":"a.de/x"}"#, ["autofill.domain"]),
        ("autofill", #"{"domain":"a.de\n"}"#, ["autofill.domain"]),
        ("autofill", #"{"domain":"1.2.3.4"}"#, ["autofill.domain"]),
        ("autofill", #"{"domain":"localhost"}"#, ["autofill.domain"]),
        ("autofill", #"{"domain":"-a.de"}"#, ["autofill.domain"]), ("autofill", "true", ["autofill"]),
        ("autofill", #"{"androidAppHash":"abcdefghijk="}"#, ["autofill.androidAppHash"]),
        ("autofill", #"{"androidAppHash":"abcdefghij"}"#, ["autofill.androidAppHash"]),
        ("autofill", #"{"androidAppHash":"abcdefghij_"}"#, ["autofill.androidAppHash"]),
    ]

    @Test(arguments: unread)
    func `a hint that cannot be read is left out and named`(field: String, json: String, names: [String]) throws {
        let request = try #require(RequestSample.read([(field, json)]).request)
        #expect(request.unreadHints == names)
        #expect(request.languageCode == nil && request.appName == nil && request.client?.ip == nil)
        #expect(request.client?.platform == nil && request.autofill?.domain == nil)
        #expect(request.autofill?.androidAppHash == nil)
    }

    /// Every spelling of an absent value, for every optional field.
    static let nothing: [(String, String)] =
        [
            "tenant", "channel", "languageCode", "appName", "subject", "client", "appVerification", "autofill",
            "actionCode", "requestedAt", "deadline",
        ].flatMap { [($0, "null"), ($0, quoted(""))] }
        + ["client", "appVerification", "autofill", "actionCode"].map { ($0, "[]") }
        + ["requestedAt", "deadline"].flatMap {
            [
                ($0, quoted("0001-01-01T00:00:00Z")), ($0, quoted("0001-01-01T00:00:00")),
                ($0, quoted("0001-01-01T00:00:00.000+01:00")), ($0, quoted("0001-01-01 00:00:00")),
                ($0, quoted("0001-01-01t00:00:00z")),
            ]
        } + [
            ("recipient", #"{"phoneNumber":"+16505553434","confirmed":null,"email":null}"#),
            ("client", #"{"ip":null,"platform":"","deviceId":null,"appId":"","userAgent":null}"#),
            ("appVerification", #"{"method":null,"verdict":"","score":null}"#),
            ("autofill", #"{"domain":"","androidAppHash":null}"#),
            (
                "actionCode",
                #"{"url":null,"linkDomain":"","iosBundleId":null,"androidPackageName":"","androidMinimumVersion":null,"#
                    + #""androidInstallApp":null,"handleCodeInApp":""}"#
            ),
        ]

    @Test(arguments: nothing)
    func `what says nothing is absent, and no conflict with a request that leaves it out`(
        field: String,
        json: String
    ) throws {
        let request = try #require(RequestSample.read([(field, json)]).request)
        let without = try #require(RequestSample.read([]).request)
        #expect(request.unreadHints == [])
        #expect(request.payloadDigestInput == without.payloadDigestInput)
        #expect(request.tenant == "default" && request.channel == .sms && request.deadline == nil)
        #expect(request.requestedAt == nil && request.subject == nil && request.client?.ip == nil)
    }

    @Test(arguments: [
        ("pt_BR", "pt-BR"), ("zh_CN_#Hans", "zh-Hans-CN"), ("en_UA_#u-fw-mon", "en-UA"), ("sr__#Latn", "sr-Latn"),
        ("th_TH_TH_#u-nu-thai", "th-TH"), ("zh_TW_#Hant_x-lvariant", "zh-Hant-TW"), ("es_419", "es-419"),
        ("en-US,en;q=0.9", "en-US"), ("fr;q=0.2, de-CH ;q=0.9,*;q=0.1", "de-CH"), ("*, it;q=0.5", "it"),
        ("en_US.UTF-8", "en-US"), ("de_DE@euro", "de-DE"), ("en_US@calendar=gregorian", "en-US"), ("fil", "fil"),
        ("EN", "en"), ("no_NO_NY", "no-NO"), (" fr_FR ", "fr-FR"), ("zh-Hans_CN", "zh-Hans-CN"),
        ("ja_JP_JP_#u-ca-japanese", "ja-JP"), ("ar_EG_#u-nu-latn", "ar-EG"), ("deu_AT", "deu-AT"),
        ("zh_nan_Hant_TW", "zh-nan-Hant-TW"), ("sr_RS.UTF-8@latin", "sr-Latn-RS"), ("uz_UZ@cyrillic", "uz-Cyrl-UZ"),
    ])
    func `a locale of any phone, browser or server names its language`(text: String, tag: String) throws {
        let request = try #require(RequestSample.read([("languageCode", Self.quoted(text))]).request)
        #expect(request.languageCode?.text == tag && request.unreadHints == [])
    }

    @Test(arguments: [
        ("1.2.3.4:5678", "1.2.3.4"), ("[2001:db8::1]:443", "2001:db8::/64"), ("[::1]", "::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        (" 1.2.3.4 ", "1.2.3.4"), ("::ffff:1.2.3.4", "1.2.3.4"), ("[::ffff:1.2.3.4]:80", "1.2.3.4"),
    ])
    func `an address is read as servers and proxies write it`(text: String, address: String) throws {
        let request = try #require(RequestSample.read([("client", "{\"ip\":\"\(text)\"}")]).request)
        #expect(request.client?.ip?.network == address && request.unreadHints == [])
    }

    @Test(arguments: [("iOS", ClientPlatform.ios), ("ANDROID", .android), ("Web", .web)])
    func `a platform is read in any case`(text: String, platform: ClientPlatform) {
        let request = RequestSample.read([("client", "{\"platform\":\"\(text)\"}")]).request
        #expect(request?.client?.platform == platform)
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
