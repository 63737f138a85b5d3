// SPDX-License-Identifier: Apache-2.0

import CryptoExtras
import FoundationEssentials
import Providers
import Testing
import Verification

@Suite struct `The request to Vonage` {
    private func message(_ text: String, registration: TemplateRegistration?) throws -> OutboundMessage {
        let message = try ProvidersTests.message()
        let recipient = try #require(PhoneNumber("+16505550123"))
        return OutboundMessage(
            sendID: message.sendID,
            content: .sms(TextMessage(recipient: recipient, text: text, registration: registration)),
            validity: message.validity,
            callDeadline: message.callDeadline,
            leaveBy: message.leaveBy
        )
    }

    @Test func `by the SMS API is a form with the credentials and numbers without a plus`() async throws {
        let request = try await ModuleSample.vonageSMS.request()
        #expect(request.head.hasPrefix("POST /sms/json HTTP/1.1\r\n"))
        #expect(request.header("content-type") == "application/x-www-form-urlencoded")
        #expect(request.header("authorization") == nil)
        #expect(
            request.body
                == "api_key=key1&api_secret=\(token)&from=15005550006&to=16505550123&text=654321+is+your+code."
                + "&ttl=600000&client-ref=01890a5d-ac96-774b-bcce-b302099a8057"
        )
    }

    @Test func `by the SMS API names the alphabet, the registration and the callback`() async throws {
        let kind = ModuleSample.vonageSMS.changing { (configuration: inout VonageConfiguration) in
            configuration.callback = "https://example.com/r"
            configuration.from = "Acme"
            configuration.baseURL += "/"
        }
        let registration = TemplateRegistration(entityID: "1101", templateID: "1107")
        let request = try await kind.request(message("код 654321", registration: registration))
        #expect(request.body.contains("&from=Acme&to=16505550123&text=%D0%BA%D0%BE%D0%B4+654321&type=unicode&ttl="))
        #expect(request.body.hasSuffix("&callback=https%3A%2F%2Fexample.com%2Fr&entity-id=1101&content-id=1107"))
        let plain = try await kind.request(message("é€", registration: nil))
        #expect(!plain.body.contains("type="))
    }

    @Test(arguments: [
        (Duration.seconds(-5), 20), (.milliseconds(20_999), 20), (.seconds(61), 61), (.seconds(Int64.max), 604_800),
    ])
    func `clamps the validity to Vonage's range`(validity: Duration, seconds: Int) async throws {
        let message = try ProvidersTests.message(validity: validity)
        let form = try await ModuleSample.vonageSMS.request(message)
        #expect(form.body.contains("&ttl=\(seconds * 1000)&"))
        let json = try await ModuleSample.vonageMessages.request(message)
        #expect(json.body.contains("\"ttl\":\(seconds)}"))
    }

    @Test func `by the Messages API is JSON with Basic authentication`() async throws {
        let request = try await ModuleSample.vonageMessages.request()
        #expect(request.head.hasPrefix("POST /v1/messages HTTP/1.1\r\n"))
        #expect(request.header("content-type") == "application/json")
        // base64 of "key1:tok-3n-s3cr3t"
        #expect(request.header("authorization") == "Basic a2V5MTp0b2stM24tczNjcjN0")
        #expect(
            request.body == """
                {"channel":"sms","message_type":"text","to":"16505550123","from":"15005550006",\
                "text":"654321 is your code.","client_ref":"01890a5d-ac96-774b-bcce-b302099a8057","ttl":600}
                """
        )
    }

    @Test func `by the Messages API names the registration and the callback`() async throws {
        let kind = ModuleSample.vonageMessages.changing { (configuration: inout VonageConfiguration) in
            configuration.callback = "https://example.com/r"
        }
        let registration = TemplateRegistration(entityID: "1101", templateID: "1107")
        let request = try await kind.request(message("\"a\"\n", registration: registration))
        #expect(request.body.contains(#""text":"\"a\"\n","#))
        let end = #""webhook_url":"https://example.com/r","sms":{"entity_id":"1101","content_id":"1107"}}"#
        #expect(request.body.hasSuffix(end))
    }

    @Test func `of an application carries a token of its own that its key signed`() async throws {
        let tokens = try await [bearerToken(), bearerToken()]
        #expect(tokens[0].claims.jti != tokens[1].claims.jti)
        for token in tokens {
            #expect(token.claims.applicationID == "app-1")
            #expect(token.claims.exp - token.claims.iat == 300)
            #expect(abs(Double(token.claims.iat) - Date().timeIntervalSince1970) < 60)
        }
    }

    private struct Claims: Decodable {
        let applicationID: String
        let iat: Int64
        let exp: Int64
        let jti: String

        enum CodingKeys: String, CodingKey {
            case applicationID = "application_id"
            case iat, exp, jti
        }
    }

    /// The token of one request, after a check of its signature with the public key.
    private func bearerToken() async throws -> (header: String, claims: Claims) {
        let request = try await ModuleSample.vonageApplication.request()
        let header = try #require(request.header("authorization"))
        #expect(header.hasPrefix("Bearer "))
        let parts = header.dropFirst(7).split(separator: ".").map(String.init)
        try #require(parts.count == 3)
        let key = try _RSA.Signing.PrivateKey(pemRepresentation: RSAKey.pem).publicKey
        let signature = _RSA.Signing.RSASignature(rawRepresentation: try decoded(parts[2]))
        let signed = Data("\(parts[0]).\(parts[1])".utf8)
        #expect(key.isValidSignature(signature, for: signed, padding: .insecurePKCS1v1_5))
        #expect(String(decoding: try decoded(parts[0]), as: UTF8.self) == #"{"alg":"RS256","typ":"JWT"}"#)
        return (parts[0], try JSONDecoder().decode(Claims.self, from: decoded(parts[1])))
    }

    private func decoded(_ text: String) throws -> Data {
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        let base64 = text.replacing("-", with: "+").replacing("_", with: "/") + padding
        return try #require(Data(base64Encoded: base64))
    }
}
