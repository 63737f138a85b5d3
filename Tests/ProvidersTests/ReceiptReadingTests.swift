// SPDX-License-Identifier: Apache-2.0

import Formats
import Foundation
import TestSupport
import TestTools
import Testing

@testable import Providers
@testable import Verification

@Suite struct ReceiptReadingTests {
    private let sendID = UUIDValue(ReceiptSample.sendID).map { SendID($0) }

    @Test func `a normalised receipt is read in every mode`() throws {
        let data = """
            {"provider":"main","sendId":"\(ReceiptSample.sendID)","providerMessageId":"SM1","status":"undelivered",\
            "errorCode":"30006","occurredAt":"2026-11-20T12:00:03Z","more":[1]}
            """
        let type = "com.codecourier.verification.receipt.v1"
        let records = [
            ReceiptSample.record(data),
            ReceiptSample.record(data, headers: [("ce_specversion", "1.0"), ("ce_type", type)]),
            ReceiptSample.record(
                #"{"specversion":"1.0","type":"\#(type)","data":\#(data)}"#,
                headers: [("content-type", "application/cloudevents+json")]
            ),
        ]
        let expected = Receipt(
            provider: "main",
            sendID: sendID,
            providerMessageID: "SM1",
            status: .undelivered,
            reason: .landline,
            errorCode: "30006",
            occurredAt: Timestamp(rfc3339: "2026-11-20T12:00:03Z")
        )
        for record in records {
            #expect(Receipt.read(record, secrets: ReceiptSample.secrets()) == .receipt(expected))
        }
    }

    @Test(
        arguments: [
            (nil, .tombstone), ("{", .notJSON), ("[]", .notAnObject), ("{}", .invalidReceipt),
            (#"{"provider":"main","status":"delivered"}"#, .invalidReceipt),
            (#"{"provider":"main","providerMessageId":"m"}"#, .invalidReceipt),
            (#"{"provider":"main","providerMessageId":"m","status":"lost"}"#, .invalidReceipt),
            (#"{"provider":"main","providerMessageId":"","status":"sent"}"#, .invalidReceipt),
            (#"{"provider":"main","sendId":"1","status":"sent"}"#, .invalidReceipt),
            (#"{"provider":7,"providerMessageId":"m","status":"sent"}"#, .invalidReceipt),
            (#"{"provider":"main","raw":[1]}"#, .invalidReceipt), (#"{"provider":"main","body":7}"#, .invalidReceipt),
            (#"{"provider":"main","providerMessageId":"+4915112345678","status":"sent"}"#, .invalidReceipt),
            (#"{"provider":"main","raw":{"From":"+4915112345678","Text":"STOP"}}"#, .invalidReceipt),
            (
                #"{"provider":"main","providerMessageId":"n","raw":{"MessageSid":"m","MessageStatus":"sent"}}"#,
                .invalidReceipt
            ),
            (#"{"provider":"main","raw":{},"headers":{"a":"1","A":"2"}}"#, .invalidReceipt),
            (#"{"provider":"main","provider":"main"}"#, .duplicateKey),
        ] as [(String?, DeadLetterReason)]
    )
    func `what is no receipt is a dead letter with its reason`(value: String?, reason: DeadLetterReason) {
        #expect(ReceiptSample.read(value) == .deadLetter(reason))
    }

    @Test(
        arguments: [
            ("twilio", "21610"), ("vonage", "1240"), ("vonage", "9"), ("sns", "OptedOut"),
            ("sns", "Phone number is opted out"),
            ("http", "opted_out"),
        ]
    )
    func `an opt-out is understood with or without a signature's secret`(provider: String, code: String) throws {
        let formats = ProviderModules.all.compactMap { module in module.receipts.map { (module.kind, $0) } }
        let secrets = ReceiptSecrets(formatsByName: Dictionary(uniqueKeysWithValues: formats))
        let json = #"{"provider":"\#(provider)","providerMessageId":"m","status":"undelivered","errorCode":"\#(code)"}"#
        let receipt = try #require(ReceiptSample.read(json, secrets).receipt)
        #expect(receipt.reason == .optedOut)
        #expect(
            try #require(ReceiptSample.read(json, ReceiptSecrets().keeping(secrets)).receipt).status == .undelivered
        )
    }

    /// The same callback in the forms in which web frameworks pass it on.
    static let handedOn = [
        #""raw":{"MessageSid":["SM1"],"MessageStatus":["failed"],"ErrorCode":[30005],"To":[],"From":null}"#,
        #""raw":{"MessageSid":"SM1","MessageStatus":"failed","ErrorCode":30005,"Price":null}"#,
        #""raw":null,"body":"MessageSid=SM1&MessageStatus=failed&ErrorCode=30005&To=%2B4915112345678""#,
        #""raw":[],"body":"TWVzc2FnZVNpZD1TTTEmTWVzc2FnZVN0YXR1cz1mYWlsZWQmRXJyb3JDb2RlPTMwMDA1""#,
        #""body":"{\"MessageSid\":\"SM1\",\"MessageStatus\":\"failed\",\"ErrorCode\":30005}""#,
        #""body":"eyJNZXNzYWdlU2lkIjoiU00xIiwiTWVzc2FnZVN0YXR1cyI6ImZhaWxlZCIsIkVycm9yQ29kZSI6MzAwMDV9""#,
        #""body":{"MessageSid":"SM1","MessageStatus":"failed","ErrorCode":30005}"#,
        #""raw":{"MessageSid":"SM1","MessageStatus":"failed","ErrorCode":"30005"},"body":"a=b","occurredAt":"yesterday""#,
    ]

    @Test(arguments: handedOn)
    func `a callback is read as the gateway's framework hands it on`(fields: String) throws {
        let json = #"{"provider":"main","sendId":"\#(ReceiptSample.sendID)","errorCode":null,\#(fields)}"#
        let receipt = try #require(ReceiptSample.read(json).receipt)
        #expect(receipt.status == .undelivered && receipt.errorCode == "30005" && receipt.reason == .unknownNumber)
        #expect(receipt.providerMessageID == "SM1" && receipt.sendID == sendID)
    }

    @Test func `a message id passes the filter of those that providers give`() throws {
        let json = #"{"provider":"main","sendId":"\#(ReceiptSample.sendID)","status":"DELIVERED""#
        let number = try #require(ReceiptSample.read(json + #","providerMessageId":"+4915112345678"}"#).receipt)
        #expect(number.providerMessageID == nil && number.status == .delivered)
        let raw = #","raw":{"MessageSid":"to +4915112345678","MessageStatus":"delivered"}}"#
        #expect(try #require(ReceiptSample.read(json + raw).receipt).providerMessageID == nil)
        #expect(try #require(ReceiptSample.read(json + #","providerMessageId":17}"#).receipt).providerMessageID == "17")
    }

    @Test(arguments: [
        ("30003", "30003"), ("handset-off", "handset-off"), ("Unknown subscriber +14155550123", nil),
        ("4155550123", nil), ("no route", nil),
    ])
    func `an error code is a code, and no text that may name the number`(text: String, code: String?) {
        let value = #"{"provider":"main","providerMessageId":"m","status":"undelivered","errorCode":"\#(text)"}"#
        guard case .receipt(let receipt) = ReceiptSample.read(value) else {
            Issue.record("it is no receipt")
            return
        }
        #expect(receipt.status == .undelivered)
        #expect(receipt.errorCode == code)
    }

    @Test func `a receipt that is too large, too deep or of another type is a dead letter`() {
        let large = #"{"provider":"\#(String(repeating: "x", count: 65_536))"}"#
        #expect(ReceiptSample.read(large) == .deadLetter(.tooLarge))
        #expect(ReceiptSample.read(String(repeating: "[", count: 17)) == .deadLetter(.tooDeep))
        let request = CloudEventType.requested.rawValue
        let other = ReceiptSample.record("{}", headers: [("ce_specversion", "1.0"), ("ce_type", request)])
        #expect(Receipt.read(other, secrets: ReceiptSample.secrets()) == .deadLetter(.invalidCloudEvent))
    }

    @Test func `a long name around many members does not multiply`() {
        let members = (0..<5000).map { #""\#($0)":1"# }.joined(separator: ",")
        let body = #"{"messageId":"1","status":"delivered","\#(String(repeating: "n", count: 300))":{\#(members)}}"#
        let receipt = ReceiptSample.callback([:], body: body)
        #expect(ReceiptSample.read(receipt) == .deadLetter(.invalidReceipt))
    }

    @Test func `the provider's own words count, and ids of both places are joined`() throws {
        let json = """
            {"provider":"main","status":"delivered","sendId":"\(ReceiptSample.sendID)",\
            "occurredAt":"2026-11-20T12:00:03Z","raw":{"SmsSid":"SM1","SmsStatus":"failed","ErrorCode":"30005"}}
            """
        let receipt = try #require(ReceiptSample.read(json).receipt)
        #expect(receipt.status == .undelivered)
        #expect(receipt.reason == .unknownNumber)
        #expect(receipt.sendID == sendID)
        #expect(receipt.providerMessageID == "SM1")
        #expect(receipt.occurredAt == Timestamp(rfc3339: "2026-11-20T12:00:03Z"))
    }

    @Test func `a shape that is not known leaves the normalised fields`() throws {
        let json = #"{"provider":"other","status":"delivered","providerMessageId":"m","raw":{"state":"DELIVRD"}}"#
        #expect(try #require(ReceiptSample.read(json).receipt).status == .delivered)
    }

    @Test func `a shape that only looks like a provider's leaves the normalised fields, too`() throws {
        let raw = #""raw":{"messageId":"9","status":"DELIVRD"}"#
        let json = #"{"provider":"other","status":"delivered","providerMessageId":"m",\#(raw)}"#
        let receipt = try #require(ReceiptSample.read(json).receipt)
        #expect(receipt.status == .delivered && receipt.providerMessageID == "m")
        let word = #"{"provider":"main","status":"sent","raw":{"MessageSid":"SM1","MessageStatus":"new"}}"#
        #expect(ReceiptSample.read(word) == .ignored(.unknownStatus), "only the callback says of which message")
        let callback = #"{"provider":"other","providerMessageId":"m",\#(raw)}"#
        #expect(ReceiptSample.read(callback) == .ignored(.unknownStatus))
    }

    @Test func `a receipt describes itself without ids of people or texts`() {
        let receipt = ReceiptSample.read(#"{"provider":"main","providerMessageId":"secret","status":"sent"}"#).receipt
        #expect(receipt?.description == "receipt sent of a send by main")
        var dumped = ""
        dump(receipt, to: &dumped)
        dump(ReceiptSample.secrets(), to: &dumped)
        #expect(!dumped.contains("secret\""))
        #expect(!dumped.contains("test-token"))
    }

    @Test func `every example of the contract is read`() throws {
        let folder = Repository.file("schemas/kafka/examples")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.lastPathComponent.hasPrefix("receipt.") }
        #expect(files.count >= 7)
        for file in files {
            let reading = ReceiptSample.read(try String(contentsOf: file, encoding: .utf8), ReceiptSample.secrets())
            #expect(reading.receipt != nil, "\(file.lastPathComponent): \(reading)")
        }
    }

    @Test func `golden receipts are read the same`() throws {
        let file = try GoldenFile("receipts.json")
        let secrets = ReceiptSample.secrets()
        let made = file.cases.map { golden in
            let record = golden.record(topic: "verification.receipts")
            return golden.with("reading", Self.text(of: Receipt.read(record, secrets: secrets)))
        }
        #expect(try file.texts(beside: made) == made)
    }

    private static func text(of reading: ReceiptReading) -> String {
        switch reading {
        case .deadLetter(let reason): compactObject(["deadLetter": reason.rawValue])
        case .ignored(let reason): compactObject(["ignored": reason.rawValue])
        case .receipt(let receipt):
            compactObject([
                "provider": receipt.provider, "sendId": receipt.sendID?.description,
                "providerMessageId": receipt.providerMessageID, "status": receipt.status.rawValue,
                "reason": receipt.reason?.rawValue, "errorCode": receipt.errorCode,
                "occurredAt": receipt.occurredAt?.rfc3339,
            ])
        }
    }
}
