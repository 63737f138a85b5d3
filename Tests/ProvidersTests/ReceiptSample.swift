// SPDX-License-Identifier: Apache-2.0

import Crypto
import Formats
import Foundation
import TestSupport

@testable import Providers
@testable import Verification

/// Sample receipt records, and the secrets that sign them.
enum ReceiptSample {
    static let sendID = "0193a5b0-1c40-7b11-9d22-33e44f556a77"
    static let messageID = "SM0123456789abcdef0123456789abcdef"
    static let url = "https://gateway.example.com/receipts/main?sendId=\(sendID)"

    static let twilio = ["MessageSid": messageID, "MessageStatus": "undelivered", "ErrorCode": "30003"]

    static let twilioSecret = Array("test-token".utf8)
    static let vonageSecret = Array("signature-secret".utf8)

    /// The formats of all modules.
    static let formats = ProviderModules.all.compactMap { $0.receipts }

    static func secrets(_ digest: VonageSignature.Digest = .sha256, isRequired: Bool = false) -> ReceiptSecrets {
        let main = ReceiptSecrets.Entry(TwilioSignature(), secrets: [twilioSecret], isRequired: isRequired)
        let vonage = VonageSignature(digest: digest)
        let backup = ReceiptSecrets.Entry(vonage, secrets: [vonageSecret], isRequired: isRequired)
        let byName = ["main": TwilioConfiguration.receipts, "backup": VonageConfiguration.receipts]
        return ReceiptSecrets(
            ["main": main, "backup": backup],
            formats: formats,
            formatsByName: byName.compactMapValues(\.self)
        )
    }

    /// The secrets of one provider of Twilio.
    static func twilioSecrets(
        _ secret: [UInt8] = twilioSecret,
        isRequired: Bool = false,
        aliases: [String: String] = [:],
        callbackURL: String? = nil
    ) -> ReceiptSecrets {
        let signature = TwilioSignature(callbackURL: callbackURL)
        let entry = ReceiptSecrets.Entry(signature, secrets: [secret], isRequired: isRequired)
        return ReceiptSecrets(["main": entry], aliases: aliases, formats: formats)
    }

    static func record(_ json: String?, headers: [(String, String)] = []) -> InboundRecord {
        InboundRecord(
            topic: "verification.receipts",
            partition: 0,
            offset: 7,
            timestamp: .test,
            key: nil,
            value: json.map { Array($0.utf8) },
            headers: headers.map { RecordField($0.0, $0.1) }
        )
    }

    static func read(_ json: String?, _ secrets: ReceiptSecrets = ReceiptSecrets(formats: formats)) -> ReceiptReading {
        Receipt.read(record(json), secrets: secrets)
    }

    /// A callback as a gateway passes it on.
    static func callback(
        _ raw: [String: String],
        provider: String = "main",
        url: String? = nil,
        headers: [String: String]? = nil,
        body: String? = nil
    ) -> String {
        var writer = JSONWriter()
        writer.object { receipt in
            receipt.member("provider", provider)
            if !raw.isEmpty { receipt.object("raw") { $0.members(raw) } }
            receipt.member("url", ifPresent: url)
            if let headers { receipt.object("headers") { $0.members(headers) } }
            receipt.member("body", ifPresent: body)
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    static func twilioSignature(_ url: String, _ raw: [String: String], isLong: Bool = false) -> [String: String] {
        let signed = url + raw.sorted { $0.key < $1.key }.map { $0.key + $0.value }.joined()
        let (data, key) = (Data(signed.utf8), SymmetricKey(data: twilioSecret))
        let code =
            isLong
            ? Data(HMAC<SHA256>.authenticationCode(for: data, using: key))
            : Data(HMAC<Insecure.SHA1>.authenticationCode(for: data, using: key))
        return ["X-Twilio-Signature": code.base64EncodedString()]
    }

    /// A signed token in the format of the Vonage Messages API.
    static func token(of body: String, algorithm: String = "HS256", secret: [UInt8] = vonageSecret) -> String {
        let hash = SHA256.hash(data: Data(body.utf8)).map { String(format: "%02x", $0) }.joined()
        let parts = [#"{"typ":"JWT","alg":"\#(algorithm)"}"#, #"{"iat":1795176003,"payload_hash":"\#(hash)"}"#]
        let signed = parts.map { encode(Data($0.utf8)) }.joined(separator: ".")
        let code = HMAC<SHA256>.authenticationCode(for: Data(signed.utf8), using: SymmetricKey(data: secret))
        return "\(signed).\(encode(Data(code)))"
    }

    private static func encode(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}

extension JSONWriter {
    fileprivate mutating func members(_ texts: [String: String]) {
        for (name, text) in texts.sorted(by: { $0.key < $1.key }) { member(named: name, text) }
    }
}

extension ReceiptReading {
    var receipt: Receipt? { if case .receipt(let receipt) = self { receipt } else { nil } }
    var ignored: IgnoredReason? { if case .ignored(let reason) = self { reason } else { nil } }
    var deadLetter: DeadLetterReason? { if case .deadLetter(let reason) = self { reason } else { nil } }
}
