// SPDX-License-Identifier: Apache-2.0

import Formats
import Testing

@testable import Providers
@testable import Verification

@Suite struct ReceiptSignatureTests {
    private let twilio = ReceiptSample.twilio
    private let url = ReceiptSample.url
    private let sms = [
        "messageId": "0B00000127FDBC63", "status": "delivered", "err-code": "0", "client-ref": ReceiptSample.sendID,
        "note": "a=b&c", "timestamp": "1795176000",
    ]
    private let body = #"{"message_uuid":"u","status":"delivered","error":null,"n":{"a":1}}"#

    private func read(
        _ raw: [String: String],
        provider: String = "main",
        url: String? = nil,
        headers: [String: String]? = nil,
        body: String? = nil,
        secrets: ReceiptSecrets = ReceiptSample.secrets()
    ) -> ReceiptReading {
        let json = ReceiptSample.callback(raw, provider: provider, url: url, headers: headers, body: body)
        return ReceiptSample.read(json, secrets)
    }

    // MARK: - Twilio

    @Test func `Twilio's documented example is signed as it says`() throws {
        let raw = [
            "CallSid": "CA1234567890ABCDE", "Caller": "+12349013030", "Digits": "1234", "From": "+12349013030",
            "To": "+18005551212",
        ]
        let signed = ReceiptSample.callback(
            raw,
            url: "https://mycompany.com/myapp.php?foo=1&bar=2",
            headers: ["X-Twilio-Signature": "0/KCTR6DLpKmkAf8muzZqo1nDgQ="]
        )
        guard case .object(let object) = try JSONScanner.parse(Array(signed.utf8)) else {
            Issue.record("the sample is a JSON object")
            return
        }
        let record = try ReceiptRecord(object, ReceiptSecrets())
        var attempts = SignatureAttempts()
        #expect(TwilioSignature().isValid(record, [Array("wrong".utf8), Array("12345".utf8)], &attempts))
        #expect(!TwilioSignature().isValid(record, [Array("wrong".utf8)], &attempts))
    }

    /// Number of signatures that are computed for a callback when none of its provider's secrets match.
    private func attempts(_ callback: String, _ signature: any ReceiptSignature, secrets: Int) throws -> Int {
        guard case .object(let object) = try JSONScanner.parse(Array(callback.utf8)) else { return 0 }
        let record = try ReceiptRecord(object, ReceiptSecrets())
        let others = (0..<secrets).map { Array("another-\($0)".utf8) }
        let provider = record.provider
        var attempts = SignatureAttempts()
        #expect(!ReceiptSecrets([provider: .init(signature, secrets: others)]).accept(record, &attempts))
        return attempts.count
    }

    @Test(arguments: [2, 3, 5, 40])
    func `a forged callback costs 16 HMACs at most, however many secrets and spellings there are`(
        secrets: Int
    ) throws {
        // A proxy may have spelt this address in more than eight ways.
        let url = "http://Gateway.Example.com:8080/r%2dx?a=x%2fy+z%20%7e"
        for isLong in [false, true] {
            let headers = ReceiptSample.twilioSignature("https://other.example", twilio, isLong: isLong)
            let forged = ReceiptSample.callback(twilio, url: url, headers: headers)
            #expect(try attempts(forged, TwilioSignature(), secrets: secrets) == 16)
        }
        let body = #"{"message_uuid":"u","status":"delivered"}"#
        let authorization = ["authorization": "Bearer \(ReceiptSample.token(of: body))"]
        let token = ReceiptSample.callback([:], provider: "backup", headers: authorization, body: body)
        #expect(try attempts(token, VonageSignature(digest: .sha256), secrets: secrets) == min(secrets, 16))
        for digest in VonageSignature.Digest.allCases {
            let forged = ReceiptSample.callback(sms.merging(["sig": "00"]) { $1 }, provider: "backup")
            #expect(try attempts(forged, VonageSignature(digest: digest), secrets: secrets) == min(secrets, 16))
        }
    }

    @Test func `a callback that is too long or has no signature costs no HMAC`() throws {
        let long = twilio.merging(["Padding": String(repeating: "x", count: 20_000)]) { $1 }
        let headers = ReceiptSample.twilioSignature(url, long)
        let tooLong = ReceiptSample.callback(long, url: url, headers: headers)
        #expect(try attempts(tooLong, TwilioSignature(), secrets: 1) == 0)
        let unsigned = ReceiptSample.callback(twilio, url: url, headers: [:])
        #expect(try attempts(unsigned, TwilioSignature(), secrets: 1) == 0)
    }

    @Test func `a provider that is called by its kind is believed by its own secret`() {
        let secrets = ReceiptSample.twilioSecrets(isRequired: true, aliases: ["twilio": "main"])
            .keeping(ReceiptSecrets())
        let headers = ReceiptSample.twilioSignature(url, twilio)
        let signed = ReceiptSample.callback(twilio, provider: "twilio", url: url, headers: headers)
        #expect(ReceiptSample.read(signed, secrets).receipt?.provider == "main")
        let bare = ReceiptSample.callback(twilio, provider: "twilio")
        #expect(ReceiptSample.read(bare, secrets) == .deadLetter(.badSignature))
    }

    @Test func `Twilio's signed callback is read, with the send's id of its address`() {
        let reading = read(twilio, url: url, headers: ReceiptSample.twilioSignature(url, twilio))
        #expect(reading.receipt?.sendID?.description == ReceiptSample.sendID)
        #expect(reading.receipt?.reason == .unreachable)
    }

    @Test func `a gateway may write headers in any case, name the port, and merge the query into the form`() {
        let signature = ReceiptSample.twilioSignature(url, twilio)
        let lower = Dictionary(uniqueKeysWithValues: signature.map { ($0.lowercased(), $1) })
        #expect(read(twilio, url: url, headers: lower).receipt != nil)
        let withPort = url.replacing("example.com", with: "example.com:443")
        #expect(read(twilio, url: withPort, headers: signature).receipt != nil)
        #expect(read(twilio, url: url, headers: ReceiptSample.twilioSignature(withPort, twilio)).receipt != nil)
        let merged = twilio.merging(["sendId": ReceiptSample.sendID]) { $1 }
        #expect(read(merged, url: url, headers: signature).receipt != nil)
        let otherPort = url.replacing("example.com", with: "example.com:8443")
        #expect(read(twilio, url: otherPort, headers: signature).receipt != nil)
        let otherHost = url.replacing("example.com", with: "example.org")
        #expect(read(twilio, url: otherHost, headers: signature).deadLetter == .badSignature)
    }

    @Test func `a proxy may end TLS or listen on a port of its own, and Twilio may sign by SHA-256`() {
        let plain = url.replacing("https://", with: "http://")
        let seen = [url, plain, plain.replacing("example.com", with: "example.com:8080")]
        for signed in [url, plain, url.replacing("example.com", with: "example.com:443")] {
            for url in seen {
                #expect(read(twilio, url: url, headers: ReceiptSample.twilioSignature(signed, twilio)).receipt != nil)
            }
        }
        let headers = ReceiptSample.twilioSignature(url, twilio, isLong: true)
        #expect(read(twilio, url: plain, headers: headers).receipt != nil)
        #expect(read(twilio, url: "\(plain)&a=b", headers: headers).deadLetter == .badSignature)
    }

    @Test(arguments: [
        ("https://Gateway.Example.com/r?a=1", "https://gateway.example.com/r?a=1", false),
        ("https://gateway.example.com/r?a=1", "HTTPS://gateway.example.com/r?a=1", true),
        ("https://gateway.example.com/r?a=1", "https://GATEWAY.example.com/r?a=1", true),
        ("https://gateway.example.com?a=1", "https://gateway.example.com/?a=1", true),
        ("https://gateway.example.com/?a=1", "https://gateway.example.com?a=1", true),
        ("https://gateway.example.com/r?a=x%2fy", "https://gateway.example.com/r?a=x%2Fy", true),
        ("https://gateway.example.com/r?a=x%2Fy", "http://gateway.example.com:8080/r?a=x%2fy", true),
        ("https://gateway.example.com/r?a=x%20y", "https://gateway.example.com/r?a=x+y", true),
        ("https://gateway.example.com/r?a=x+y%3a", "http://gateway.example.com/r?a=x%20y%3A", true),
        ("https://gateway.example.com/a%2Db?a=x_y", "https://gateway.example.com/a-b?a=x%5fy", false),
        ("https://gateway.example.com/a-b?a=x_y", "https://gateway.example.com/a%2Db?a=x%5fy", true),
        ("https://gateway.example.com/r?a=1", "https://gateway.example.com/r?a=2", false),
        ("https://gateway.example.com/r?a=%31", "https://gateway.example.com/R?a=%31", false),
        ("https://[2001:db8::1]/r?a=1", "http://[2001:db8::1]:8080/r?a=1", true),
        ("gateway.example.com/r", "gateway.example.com/r", true),
    ])
    func `an address that a proxy has spelt anew is the one that Twilio signed`(
        signed: String,
        seen: String,
        fits: Bool
    ) {
        let reading = read(twilio, url: seen, headers: ReceiptSample.twilioSignature(signed, twilio))
        #expect((reading.receipt != nil) == fits)
    }

    @Test func `a configured address replaces guesses, whatever the gateway saw`() {
        let entry = { ReceiptSample.twilioSecrets(callbackURL: $0) }
        let secrets = entry("https://gateway.example.com/receipts/main")
        let headers = ReceiptSample.twilioSignature(url, twilio)
        for seen in [url, "http://10.0.0.7:8080/hooks/twilio?sendId=\(ReceiptSample.sendID)"] {
            #expect(read(twilio, url: seen, headers: headers, secrets: secrets).receipt != nil)
            #expect(read(twilio, url: seen, headers: headers, secrets: entry("https://other.example")).receipt == nil)
            #expect(read(twilio, url: "\(seen)&a=b", headers: headers, secrets: secrets).receipt == nil)
        }
        let plain = ReceiptSample.twilioSignature("https://gateway.example.com/receipts/main", twilio)
        #expect(read(twilio, headers: plain, secrets: secrets).receipt != nil)
    }

    @Test func `a callback that is longer than a provider's is refused before anything is computed`() {
        for padding in [1000, 20_000] {
            let long = twilio.merging(["Padding": String(repeating: "x", count: padding)]) { $1 }
            let reading = read(long, url: url, headers: ReceiptSample.twilioSignature(url, long))
            #expect((reading.receipt != nil) == (padding == 1000))
        }
        let body = #"{"message_uuid":"u","status":"delivered","note":"\#(String(repeating: "x", count: 40_000))"}"#
        let authorization = ["authorization": "Bearer \(ReceiptSample.token(of: body))"]
        #expect(read([:], provider: "backup", headers: authorization, body: body).deadLetter == .badSignature)
    }

    @Test func `a wrong or missing signature of Twilio is a dead letter`() {
        let signature = ReceiptSample.twilioSignature(url, twilio)
        let delivered = twilio.merging(["MessageStatus": "delivered"]) { $1 }
        let stranger = twilio.merging(["sendId": "0193a5b0-1c40-7b11-9d22-33e44f556a78"]) { $1 }
        #expect(read(delivered, url: url, headers: signature).deadLetter == .badSignature)
        #expect(read(stranger, url: url, headers: signature).deadLetter == .badSignature)
        #expect(read(twilio, url: url + "&a=b", headers: signature).deadLetter == .badSignature)
        #expect(read(twilio, url: url).deadLetter == .badSignature)
        #expect(read(twilio, headers: signature).deadLetter == .badSignature)
        #expect(read(twilio, url: url, headers: [:]).deadLetter == .badSignature)
        for text in ["", "AAAA", "not base64", "=", "E0RWeJsFEfvpAF67riZKV8bbPkY"] {
            #expect(read(twilio, url: url, headers: ["X-Twilio-Signature": text]).deadLetter == .badSignature)
        }
    }

    @Test func `without the request a receipt is believed, unless signatures are required`() {
        #expect(read(twilio).receipt != nil)
        let required = ReceiptSample.secrets(isRequired: true)
        #expect(read(twilio, secrets: required).deadLetter == .badSignature)
        let normalised = #"{"provider":"main","providerMessageId":"m","status":"delivered"}"#
        #expect(ReceiptSample.read(normalised, required).deadLetter == .badSignature)
        #expect(ReceiptSample.read(normalised, ReceiptSample.secrets()).receipt != nil)
        #expect(read(twilio, provider: "unsigned", url: url, headers: [:], secrets: required).receipt != nil)
    }

    @Test func `a provider without a usable secret believes no signature`() {
        let empty = ReceiptSample.twilioSecrets([])
        #expect(
            read(twilio, url: url, headers: ["X-Twilio-Signature": "AAAA"], secrets: empty).deadLetter == .badSignature
        )
    }

    // MARK: - Vonage

    @Test(
        arguments: [
            (.md5Hash, "ed2633dc541dd743783dd1525247566f"), (.md5, "008ed406a29a163436699a3ac9ce6ca6"),
            (.sha1, "E9B5620ADE5BB403730DD0359DED2B5E2056735A"),
            (.sha256, "99f1c887c6c5b218da5d2bb42a43899d762d9a0fc2e9cbf1406bd00ae07538ec"),
            (
                .sha512,
                "2ea9f2395ce1bc1d08fe7cbb8ae9502b13eb85711e0fef101ecfb2631119ec21ac4d6b73a5082be7adb26e2f4b790d9170985790b9b40bbe092278f3a5967241"
            ),
        ] as [(VonageSignature.Digest, String)]
    )
    func `Vonage's parameter sig is checked by the account's digest`(digest: VonageSignature.Digest, signature: String)
    {
        let secrets = ReceiptSample.secrets(digest)
        let signed = sms.merging(["sig": signature]) { $1 }
        #expect(read(signed, provider: "backup", secrets: secrets).receipt?.status == .delivered)
        #expect(read(sms, provider: "backup", headers: [:], secrets: secrets).deadLetter == .badSignature)
        #expect(read(sms, provider: "backup", secrets: secrets).receipt != nil)
        for change in [("status", "failed"), ("sig", String(signature.dropLast(2))), ("sig", ""), ("extra", "1")] {
            let forged = signed.merging([change.0: change.1]) { $1 }
            #expect(read(forged, provider: "backup", secrets: secrets).deadLetter == .badSignature, "\(change)")
        }
        for other in VonageSignature.Digest.allCases where other != digest {
            let reading = read(signed, provider: "backup", secrets: ReceiptSample.secrets(other))
            #expect(reading.deadLetter == .badSignature)
        }
    }

    @Test func `the Messages API's token vouches for its body alone`() {
        let authorization = ["authorization": "Bearer \(ReceiptSample.token(of: body))"]
        let forged = ["message_uuid": "u", "status": "rejected"]
        let signed = read(forged, provider: "backup", headers: authorization, body: body)
        #expect(signed.receipt?.status == .delivered)
        #expect(read(forged, provider: "backup", headers: authorization).deadLetter == .badSignature)
        let changed = body.replacing("delivered", with: "submitted")
        #expect(read([:], provider: "backup", headers: authorization, body: changed).deadLetter == .badSignature)
    }

    @Test func `a body that cannot be read vouches for nothing beside it`() {
        let deep =
            #"{"message_uuid":"u","a":"# + String(repeating: "[", count: 20) + String(repeating: "]", count: 20) + "}"
        let token = ["Authorization": "Bearer \(ReceiptSample.token(of: deep))"]
        let raw = ["message_uuid": "u", "status": "delivered"]
        #expect(read(raw, provider: "backup", headers: token, body: deep).deadLetter == .badSignature)
    }

    @Test func `a token of another make, key or algorithm is refused`() {
        let good = ReceiptSample.token(of: body)
        let tokens = [
            ReceiptSample.token(of: body, algorithm: "none"), ReceiptSample.token(of: body, algorithm: "RS256"),
            ReceiptSample.token(of: body, secret: Array("other".utf8)), String(good.dropLast(4)), good + ".x", "", "..",
            String(good.prefix { $0 != "." }) + "..", "a.b.c",
        ]
        for token in tokens {
            let reading = read([:], provider: "backup", headers: ["Authorization": "Bearer \(token)"], body: body)
            #expect(reading.deadLetter == .badSignature, "\(token)")
        }
        let basic = read([:], provider: "backup", headers: ["Authorization": "Basic \(good)"], body: body)
        #expect(basic.deadLetter == .badSignature)
    }
}
