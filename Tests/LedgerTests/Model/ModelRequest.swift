// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import Verification

/// A request in the model's terms.
struct ModelRequest: Sendable {
    /// The mistakes of a gateway that still leave the request answerable.
    enum Fault: Sendable, CaseIterable {
        case purpose
        case phoneNumber
        case subject
        case future
    }

    /// The app verification that a request shows.
    struct Shown: Sendable {
        var method = "recaptcha"
        var verdict: String? = "pass"
        var score: Double?
    }

    var id: String
    var tenant: String
    var purpose: Purpose = .signIn
    var number = "+4915100000001"
    var ip: String?
    var device: String?

    /// The account, which purposes that require one always name.
    var subject: String?
    var isConfirmed = false
    var shown: Shown?
    var language: String?
    var requestedAt: Timestamp
    var deadline: Timestamp?
    var fault: Fault?

    /// The recipient's line; an unlisted number is a German mobile.
    var line: ModelLine { .of(number) }

    /// The fault, or nil when it does not apply to this purpose.
    var realFault: Fault? { fault == .subject && !purpose.requiresSubject ? nil : fault }

    /// The subject as the record has it.
    var account: String? { fault == .subject ? nil : subject ?? (purpose.requiresSubject ? "account" : nil) }

    /// The fields that a request with the same id must repeat, or else its id conflicts.
    var payload: String {
        // A request's time is not part of its payload, even if the time is invalid.
        if let realFault, realFault != .future { return json }
        return "\(purpose) \(number) \(language ?? "-") \(account ?? "-")"
    }

    var json: String {
        var fields = [
            #""requestId":"\#(id)""#, #""tenant":"\#(tenant)""#,
            #""purpose":"\#(fault == .purpose ? "fun" : purpose.rawValue)""#,
            #""recipient":{"phoneNumber":"\#(fault == .phoneNumber ? "0151" : number)","confirmed":\#(isConfirmed)}"#,
        ]
        let asked = fault == .future ? requestedAt + .seconds(9_000_000) : requestedAt
        fields.append(#""requestedAt":"\#(asked.text)""#)
        if let account { fields.append(#""subject":"\#(account)""#) }
        if let language { fields.append(#""languageCode":"\#(language)""#) }
        if let deadline { fields.append(#""deadline":"\#(deadline.text)""#) }
        let client = [("ip", ip), ("deviceId", device)].compactMap { name, value in
            value.map { #""\#(name)":"\#($0)""# }
        }
        if !client.isEmpty { fields.append(#""client":{\#(client.joined(separator: ","))}"#) }
        if let shown {
            var inner = [#""method":"\#(shown.method)""#]
            if let verdict = shown.verdict { inner.append(#""verdict":"\#(verdict)""#) }
            if let score = shown.score { inner.append(#""score":\#(score)"#) }
            fields.append(#""appVerification":{\#(inner.joined(separator: ","))}"#)
        }
        return "{\(fields.joined(separator: ","))}"
    }

    func record(partition: Int32 = 0, offset: Int64) -> InboundRecord {
        .raw(json, offset: offset, partition: partition, at: requestedAt)
    }
}

/// A request with its partition and offset.
struct ModelRecord: Sendable {
    let partition: Int32
    let offset: Int64
    let request: ModelRequest

    var inbound: InboundRecord { request.record(partition: partition, offset: offset) }
}

extension Timestamp {
    /// RFC 3339 with microseconds.
    fileprivate var text: String {
        let fraction = String(microseconds % 1000)
        return rfc3339.dropLast() + String(repeating: "0", count: 3 - fraction.utf8.count) + fraction + "Z"
    }
}
