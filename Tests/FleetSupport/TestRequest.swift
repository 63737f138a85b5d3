// SPDX-License-Identifier: Apache-2.0

package import KafkaClient
import Synchronization
import TestTools

package struct TestRequest: Sendable {
    package var id: String
    package var phoneNumber: String
    package var purpose = "sign_in"
    package var tenant: String?
    package var isConfirmed: Bool

    /// Additional members, each after a comma.
    package var more: String
    package var traceparent: String?

    package init(
        id: String = uniqueName("request-"),
        phoneNumber: String,
        tenant: String? = nil,
        isConfirmed: Bool = false,
        more: String = ""
    ) {
        (self.id, self.phoneNumber, self.tenant) = (id, phoneNumber, tenant)
        (self.isConfirmed, self.more) = (isConfirmed, more)
    }

    package var json: String {
        let tenant = tenant.map { #""tenant":"\#($0)","# } ?? ""
        let recipient = #"{"phoneNumber":"\#(phoneNumber)","confirmed":\#(isConfirmed)}"#
        return #"{"requestId":"\#(id)",\#(tenant)"purpose":"\#(purpose)","recipient":\#(recipient)\#(more)}"#
    }

    /// The request in CloudEvents' binary mode.
    package var binary: TestRecord {
        var headers = [
            RecordHeader("ce_specversion", "1.0"), RecordHeader("ce_id", "\(id)-event"),
            RecordHeader("ce_source", "/tests"), RecordHeader("ce_type", Self.type),
            RecordHeader("content-type", "application/json"),
        ]
        if let traceparent { headers.append(RecordHeader("traceparent", traceparent)) }
        return TestRecord(key: phoneNumber, value: Array(json.utf8), headers: headers)
    }

    /// The request in CloudEvents' structured mode.
    package var structured: TestRecord {
        let attributes = #""specversion":"1.0","id":"\#(id)-event","source":"/tests","type":"\#(Self.type)""#
        return TestRecord(
            key: phoneNumber,
            value: Array("{\(attributes),\"datacontenttype\":\"application/json\",\"data\":\(json)}".utf8),
            headers: [RecordHeader("content-type", "application/cloudevents+json; charset=UTF-8")]
        )
    }

    /// The request as plain JSON without CloudEvents attributes.
    package var bare: TestRecord { TestRecord(key: phoneNumber, value: Array(json.utf8)) }

    package static let type = "com.codecourier.verification.requested.v1"
}

/// A record for the request topic.
package struct TestRecord: Sendable {
    package var key: String?
    package var value: [UInt8]?
    package var headers: [RecordHeader]
    package var partition: Int32?

    /// The key's bytes when it is not text; they replace `key`.
    package var keyBytes: [UInt8]?

    /// Nil for the fleet's own topic of requests.
    package var topic: String?

    package init(key: String?, value: [UInt8]?, headers: [RecordHeader] = [], partition: Int32? = nil) {
        (self.key, self.value, self.headers, self.partition) = (key, value, headers, partition)
    }
}

extension RecordHeader {
    package init(_ name: String, _ value: String) {
        self.init(name: name, value: Array(value.utf8))
    }
}

/// Valid mobile numbers, each returned once per process.
package enum Numbers {
    /// `count` unused numbers of one region.
    package static func take(_ count: Int, _ region: String = "DE") -> [String] {
        let first = counter.withLock { counter in
            defer { counter += count }
            return counter
        }
        return (first..<first + count).map { number(region, $0) }
    }

    package static func one(_ region: String = "DE") -> String {
        number(
            region,
            counter.withLock { counter in
                defer { counter += 1 }
                return counter
            }
        )
    }

    private static func number(_ region: String, _ index: Int) -> String {
        switch region {
        case "GB": "+447400" + digits(index, 6)
        case "FR": "+336" + digits(12_000_000 + index, 8)
        case "IN": "+9198" + digits(76_000_000 + index, 8)
        case "US": "+1650253" + digits(index, 4)
        default: "+49151" + digits(23_000_000 + index, 8)
        }
    }

    private static func digits(_ number: Int, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }

    private static let counter = Mutex(1000)
}
