// SPDX-License-Identifier: Apache-2.0

import Formats
import Glibc
import Verification

/// Requests in the proportions of `bench/load.py`: 85 % new, 10 % repeated, 3 % refused, 2 % invalid.
///
/// Each lane has its own people and addresses, with the same total number of addresses as there.
struct Load {
    private let lanes: Int
    private var count = 0
    private var earlier: [[String]]

    init(lanes: Int) {
        self.lanes = lanes
        earlier = Array(repeating: [], count: lanes)
    }

    mutating func records(_ wanted: Int, lane: Int) -> [InboundRecord] {
        (0..<wanted).map { _ in record(lane: lane) }
    }

    private mutating func record(lane: Int) -> InboundRecord {
        count += 1
        let value: String
        switch count % 100 {
        case 0..<10 where earlier[lane].count > 1000:
            value = json(earlier[lane][earlier[lane].count - 1000 + count % 500], lane)
        case 10..<13: value = json("+1650253\(1000 + count % 9000)", lane)
        case 13..<15: value = #"{"requestId": "half a reque"#
        default:
            let number = "+49151\(23_000_000 + count)"
            earlier[lane].append(number)
            value = json(number, lane)
        }
        return InboundRecord(
            topic: "requests",
            partition: Int32(lane),
            offset: Int64(count),
            timestamp: .clock,
            key: Array("\(count)".utf8),
            value: Array(value.utf8),
            headers: []
        )
    }

    private func json(_ number: String, _ lane: Int) -> String {
        let place = Int.random(in: 0..<65_536 / lanes)
        let address = "10.\(lane).\(place / 256).\(place % 256)"
        return """
            {"requestId":"request-\(count)","tenant":"default","channel":"sms","purpose":"sign_in","recipient":\
            {"phoneNumber":"\(number)","confirmed":true},"languageCode":"en","subject":"user-\(count)","client":\
            {"ip":"\(address)","deviceId":"0123456789abcdef","platform":"ios","userAgent":"Acme/4.2 (build 1871)"}}
            """
    }
}

extension Timestamp {
    static var clock: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
    }
}
