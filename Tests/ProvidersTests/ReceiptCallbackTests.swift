// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import Testing

@testable import Providers
@testable import Verification

@Suite struct ReceiptCallbackTests {
    private let sendID = UUIDValue(ReceiptSample.sendID).map { SendID($0) }

    private func read(_ raw: [String: String]) -> ReceiptReading {
        ReceiptSample.read(ReceiptSample.callback(raw))
    }

    @Test(
        arguments: [
            ("queued", .sent), ("accepted", .sent), ("sending", .sent), ("sent", .sent), ("delivered", .delivered),
            ("read", .delivered), ("undelivered", .undelivered), ("failed", .undelivered),
        ] as [(String, Receipt.Status)]
    )
    func `Twilio's statuses are read`(word: String, status: Receipt.Status) {
        #expect(read(["MessageSid": "SM1", "MessageStatus": word]).receipt?.status == status)
    }

    @Test(
        arguments: [
            ("30003", .unreachable), ("30004", .carrierBlocked), ("30005", .unknownNumber), ("30006", .landline),
            ("30007", .carrierBlocked), ("30008", nil), ("21610", .optedOut), ("30036", .expired), ("99999", nil),
            ("30450", .rejected), ("30453", .rejected),
        ] as [(String, UndeliveredReason?)]
    )
    func `Twilio's codes tell the reason`(code: String, reason: UndeliveredReason?) {
        let raw = [
            "MessageSid": "SM1", "MessageStatus": "undelivered", "ErrorCode": code, "sendId": ReceiptSample.sendID,
        ]
        let receipt = read(raw).receipt
        #expect(receipt?.reason == reason)
        #expect(receipt?.errorCode == code)
        #expect(receipt?.sendID == sendID)
    }

    @Test func `a callback that says nothing of a send is ignored`() {
        #expect(read(["SmsSid": "SM1", "SmsStatus": "received", "Body": "STOP"]).ignored == .inboundMessage)
        #expect(read(["MessageSid": "SM1", "MessageStatus": "teleported"]).ignored == .unknownStatus)
        #expect(read(["messageId": "1", "status": "unknown"]).ignored == .outcomeUnknown)
    }

    @Test(
        arguments: [
            ("accepted", .sent), ("buffered", .sent), ("delivered", .delivered), ("expired", .undelivered),
            ("failed", .undelivered), ("rejected", .undelivered),
        ] as [(String, Receipt.Status)]
    )
    func `Vonage's statuses of a text message are read`(word: String, status: Receipt.Status) {
        let reading = read(["messageId": "0B01", "status": word, "client-ref": ReceiptSample.sendID, "err-code": "0"])
        #expect(reading.receipt?.status == status)
        #expect(reading.receipt?.sendID == sendID)
        #expect(reading.receipt?.errorCode == nil)
        #expect(reading.receipt?.reason == (word == "expired" ? .expired : nil))
    }

    @Test(
        arguments: [
            ("1", nil), ("2", .unreachable), ("3", .unknownNumber), ("4", .optedOut), ("5", .unreachable),
            ("6", .carrierBlocked), ("7", .unreachable), ("8", .unreachable), ("9", .optedOut), ("10", .rejected),
            ("11", .unreachable), ("12", .unreachable), ("13", .carrierBlocked), ("14", .carrierBlocked),
            ("15", .unreachable), ("16", .rejected), ("99", nil),
        ] as [(String, UndeliveredReason?)]
    )
    func `Vonage's codes tell the reason`(code: String, reason: UndeliveredReason?) {
        let receipt = read(["messageId": "0B01", "status": "failed", "err-code": code]).receipt
        #expect(receipt?.reason == reason)
        #expect(receipt?.errorCode == code)
    }

    @Test func `Vonage's times are read, to the second before to the minute`() {
        let both = ["messageId": "1", "status": "delivered", "scts": "2611201200"]
        let minute = read(both).receipt?.occurredAt
        #expect(minute == Timestamp(rfc3339: "2026-11-20T12:00:00Z"))
        let second = read(both.merging(["message-timestamp": "2026-11-20 12:00:03"]) { $1 }).receipt?.occurredAt
        #expect(second == Timestamp(rfc3339: "2026-11-20T12:00:03Z"))
        for scts in ["2613201200", "26112012", "２６１１２０１２００", "+611201200"] {
            #expect(read(["messageId": "1", "status": "delivered", "scts": scts]).receipt?.occurredAt == nil)
        }
    }

    @Test func `the Messages API's status is read, its error by number and never by words`() {
        let status = ["message_uuid": "u", "status": "rejected", "client_ref": ReceiptSample.sendID]
        let errors: [([String: String], String?, UndeliveredReason?)] = [
            (["error.title": "1190"], "1190", .unknownNumber),
            (
                ["error.title": "Absent", "error.type": "https://developer.vonage.com/errors#1180"], "1180",
                .unreachable
            ),
            (["error": "1240"], "1240", .optedOut),
            (["error.title": "no route to 49151123456"], nil, nil),
            ([:], nil, nil),
        ]
        for (error, code, reason) in errors {
            let receipt = read(status.merging(error) { $1 }).receipt
            #expect(receipt?.status == .undelivered)
            #expect(receipt?.errorCode == code)
            #expect(receipt?.reason == reason)
            #expect(receipt?.sendID == sendID)
        }
        #expect(read(["message_uuid": "u", "status": "submitted"]).receipt?.status == .sent)
        #expect(read(["message_uuid": "u", "status": "undeliverable"]).receipt?.status == .undelivered)
    }

    @Test func `the log of Amazon SNS is read from a body with its nested fields`() throws {
        let body = """
            {"notification":{"messageId":"m","timestamp":"2026-11-20 12:00:00.500"},"delivery":{"mnc":0,\
            "destination":"+1XXX5550100","providerResponse":"Blocked as spam by phone carrier","dwellTimeMs":1420,\
            "attempts":[1],"carrier":null},"status":"FAILURE"}
            """
        let receipt = try #require(ReceiptSample.read(ReceiptSample.callback([:], provider: "sns", body: body)).receipt)
        #expect(receipt.status == .undelivered)
        #expect(receipt.reason == .carrierBlocked)
        #expect(receipt.errorCode == nil)
        #expect(receipt.providerMessageID == "m")
        #expect(receipt.occurredAt == Timestamp(rfc3339: "2026-11-20T12:00:01.920Z"))
        #expect(read(["notification.messageId": "m", "status": "SUCCESS"]).receipt?.status == .delivered)
    }

    @Test func `the tables hold nothing that a reading would drop`() {
        let codes = [TwilioCallback.reasons, VonageReceipt.reasons, VonageMessageStatus.reasons].flatMap(\.keys)
        #expect(codes.allSatisfy { $0.utf8.count <= 5 && $0.utf8.allSatisfy(\.isASCIIDigit) })
        #expect(SNSDeliveryStatus.reasons.keys.allSatisfy { $0 == $0.lowercased() })
        let words = [
            TwilioCallback.outcomes, VonageReceipt.outcomes, VonageMessageStatus.outcomes, SNSDeliveryStatus.outcomes,
        ]
        #expect(words.flatMap(\.keys).allSatisfy { $0 == $0.lowercased() })
    }
}
