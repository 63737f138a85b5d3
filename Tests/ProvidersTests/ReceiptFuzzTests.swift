// SPDX-License-Identifier: Apache-2.0

import TestTools
import Testing

@testable import Providers
@testable import Verification

@Suite struct ReceiptFuzzTests {
    @Test func `no bytes trap the reading and each record has one reading`() {
        var seed = TestSeed("receipts")
        let samples =
            Self.signed.map(\.json) + [
                #"{"provider":"main","sendId":"0193a5b0-1c40-7b11-9d22-33e44f556a77","status":"delivered","errorCode":"1"}"#,
                ReceiptSample.callback(["messageId": "1", "status": "failed", "err-code": "4", "scts": "2611201200"]),
                ReceiptSample.callback([
                    "notification.messageId": "m", "notification.timestamp": "2026-11-20 12:00:00.559",
                    "delivery.dwellTimeMs": "1420", "status": "FAILURE",
                ]),
            ]
        let bytes = samples.map { Array($0.utf8) }
        var counts = [0, 0, 0]
        for _ in 0..<25_000 {
            switch read(seed.mutate(bytes[seed.below(bytes.count)]), ReceiptSample.secrets()) {
            case .receipt(let receipt):
                counts[0] += 1
                #expect(receipt.sendID != nil || receipt.providerMessageID != nil)
            case .ignored: counts[1] += 1
            case .deadLetter: counts[2] += 1
            }
        }
        #expect(counts.allSatisfy { $0 > 75 }, "\(counts)")
    }

    @Test func `a signed receipt that was changed is the same receipt or none`() {
        var seed = TestSeed("forged receipts")
        let secrets = ReceiptSample.secrets(isRequired: true)
        var refused = 0
        for sample in Self.signed {
            let original = ReceiptSample.read(sample.json, secrets).receipt
            #expect(original != nil)
            let bytes = Array(sample.json.utf8)
            for _ in 0..<8000 {
                switch read(seed.mutate(bytes), secrets) {
                case .receipt(let receipt) where receipt.provider == sample.provider: #expect(receipt == original)
                case .receipt, .ignored: break
                case .deadLetter(let reason): if reason == .badSignature { refused += 1 }
                }
            }
        }
        #expect(refused > 2500, "\(refused)")
    }

    private func read(_ value: [UInt8], _ secrets: ReceiptSecrets) -> ReceiptReading {
        let record = InboundRecord(
            topic: "receipts",
            partition: 0,
            offset: 0,
            timestamp: nil,
            key: nil,
            value: value,
            headers: []
        )
        return Receipt.read(record, secrets: secrets)
    }

    private static let signed: [(provider: String, json: String)] = {
        let url = ReceiptSample.url
        let sms = [
            "messageId": "0B00000127FDBC63", "status": "delivered", "err-code": "0", "note": "a=b&c",
            "client-ref": ReceiptSample.sendID, "timestamp": "1795176000",
            "sig": "99f1c887c6c5b218da5d2bb42a43899d762d9a0fc2e9cbf1406bd00ae07538ec",
        ]
        let body = #"{"message_uuid":"u","status":"delivered"}"#
        let token = ["Authorization": "Bearer \(ReceiptSample.token(of: body))"]
        let twilio = ReceiptSample.callback(
            ReceiptSample.twilio,
            url: url,
            headers: ReceiptSample.twilioSignature(url, ReceiptSample.twilio)
        )
        return [
            ("main", twilio), ("backup", ReceiptSample.callback(sms, provider: "backup")),
            ("backup", ReceiptSample.callback([:], provider: "backup", headers: token, body: body)),
        ]
    }()
}
