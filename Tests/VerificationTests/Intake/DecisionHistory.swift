// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import TestTools
import Verification

/// A directory with one region for each country code of the random histories.
struct CountryCodeNumbers: NumberDirectory {
    func facts(of number: PhoneNumber) -> NumberFacts {
        let region =
            switch number.e164.prefix(3) {
            case "+49": Region("DE")
            case "+91": Region("IN")
            case "+79": Region("RU")
            default: Region("US")
            }
        let found = region ?? .unknown
        return NumberFacts(region: found, candidates: [found], isValid: number.e164.utf8.count > 9, type: .mobile)
    }
}

/// Random records, as faulty gateways and a rebalancing Kafka would deliver them.
struct DecisionHistory {
    var random: TestSeed
    private var offset: Int64 = 0
    private var requestCount = 0
    private var past: [InboundRecord] = []

    init(random: TestSeed) {
        self.random = random
    }

    /// Initial tables with short windows and validities, so that histories reach every edge often.
    static func tables() -> DecisionTables {
        DecisionTables(numbers: CountryCodeNumbers()) { tenant in
            tenant.resend.windows = [.seconds(30)]
            tenant.code.validity = .seconds(300)
            tenant.code.maxChecks = 3
            tenant.emailLinks.validity = .seconds(420)
        }
    }

    mutating func records(at now: Timestamp) -> [InboundRecord] {
        var records: [InboundRecord] = []
        for _ in 0...random.below(5) { records.append(record(at: now)) }
        return records
    }

    private mutating func record(at now: Timestamp) -> InboundRecord {
        let record: InboundRecord
        if !past.isEmpty, random.chance(8) {
            return random.pick(past)
        } else if !past.isEmpty, random.chance(10) {
            record = again(random.pick(past))
        } else if random.chance(3) {
            record = place(random.pick(["{", "[]", "{}", #"{"requestId":7}"#, ""]), at: now)
        } else {
            record = request(at: now)
        }
        past.append(record)
        return record
    }

    /// A record with the same payload at another offset.
    private mutating func again(_ record: InboundRecord) -> InboundRecord {
        InboundRecord(
            topic: record.topic,
            partition: random.chance(70) ? record.partition : 1 - record.partition,
            offset: nextOffset(),
            timestamp: record.timestamp,
            key: record.key,
            value: record.value,
            headers: record.headers
        )
    }

    private mutating func request(at now: Timestamp) -> InboundRecord {
        let isOldID = requestCount > 0 && random.chance(8)
        if !isOldID { requestCount += 1 }
        let id = isOldID ? random.below(requestCount) : requestCount
        let numbers = [
            "+4915123456789", "+4915123456789", "+4915123456780", "+12025550123", "+911234567890", "+79123456789",
            "+4912345", "0151",
        ]
        var members = [
            #""requestId":"r\#(id)""#,
            #""purpose":"\#(random.pick(["sign_in", "sign_in", "sign_in", "sign_up", "x"]))""#,
            #""recipient":{"phoneNumber":"\#(random.pick(numbers))","confirmed":\#(random.chance(50))}"#,
        ]
        if random.chance(25) { members[1...] = otherChannel()[...] }
        if random.chance(10) {
            members.append(#""deadline":"\#((now + .seconds(random.pick([-1, 0, 1, 90]))).rfc3339)""#)
        }
        if random.chance(2) { members.append(#""tenant":"nobody""#) }
        let age: [Duration] = [.zero, .zero, .zero, .zero, .seconds(2), .seconds(299), .seconds(300), .seconds(301)]
        return place("{\(members.joined(separator: ","))}", at: now - random.pick(age))
    }

    /// A request by e-mail or push instead of SMS.
    private mutating func otherChannel() -> [String] {
        if random.chance(40) {
            let token = String(repeating: random.pick(["0f", "1e"]), count: 32)
            return [
                #""channel":"apns""#, #""purpose":"\#(random.pick(["app_verification", "sign_in"]))""#,
                #""recipient":{"deviceToken":"\#(token)","bundleId":"com.example.app"}"#,
            ]
        }
        let url = random.pick(["https://example.com/", "https://example.com/a?b=c", "https://example.org/"])
        return [
            #""channel":"email""#, #""purpose":"sign_in""#,
            #""recipient":{"email":"\#(random.pick(["ada@example.com", "bob@example.com"]))"}"#,
            #""actionCode":{"url":"\#(url)","handleCodeInApp":true}"#,
        ]
    }

    private mutating func place(_ text: String, at time: Timestamp) -> InboundRecord {
        .raw(text, offset: nextOffset(), partition: Int32(random.below(2)), at: time)
    }

    private mutating func nextOffset() -> Int64 {
        offset += 1
        return offset
    }

    // MARK: Between batches

    /// A pause of the clock that often ends exactly at an edge.
    mutating func pause() -> Duration {
        let edges: [Duration] = [
            .zero, .seconds(1), .seconds(30), .seconds(31), .seconds(60), .seconds(180), .seconds(300),
        ]
        return random.pick(edges) + .microseconds(random.pick([-1, 0, 0, 1])) + .microseconds(1)
    }

    mutating func disposition() -> SendDisposition {
        random.pick([
            .sent, .sent, .sent, .sent, .failed(.providerRefused), .failed(.providerUnavailable),
            .failed(.fraudBlocked),
            .unknown(.timeout), .expiredUnsent, .retry(after: .seconds(20)),
        ])
    }
}
