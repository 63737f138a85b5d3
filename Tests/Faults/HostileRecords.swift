// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import KafkaClient
import TestTools

/// Generates hostile records from good ones.
struct HostileRecords {
    /// The CloudEvents type of the topic.
    var type = TestRequest.type

    /// Makes a hostile record from a good JSON object; wrong types and injections replace the fields named.
    func record(of json: String, fields: [String], _ dice: inout TestSeed) -> TestRecord {
        var record = TestRecord(key: nil, value: Array(json.utf8))
        switch dice.below(12) {
        case 0...3: record.value = mutated(Array(json.utf8), &dice)
        case 4...6: record.value = Array(replacing(dice.pick(fields), in: json, &dice).utf8)
        case 7: record.value = Array((json.dropLast() + "," + dice.pick(Self.members) + "}").utf8)
        case 8: record.value = large(json, &dice)
        case 9: record.value = dice.chance(30) ? nil : bytes(dice.below(200), &dice)
        default: break
        }
        if dice.chance(60) { record.headers = headers(&dice) }
        if dice.chance(50) { record.keyBytes = bytes(dice.below(40), &dice) }
        if dice.chance(5) { record.value = structured(record.value, &dice) }
        return record
    }

    private func mutated(_ good: [UInt8], _ dice: inout TestSeed) -> [UInt8] {
        var value = good
        for _ in 0...dice.below(8) where !value.isEmpty {
            let place = dice.below(value.count)
            switch dice.below(5) {
            case 0: value[place] ^= 1 << UInt8(dice.below(8))
            case 1: value.insert(UInt8(truncatingIfNeeded: dice.next()), at: place)
            case 2: value.remove(at: place)
            case 3: value.insert(contentsOf: dice.pick(Self.pieces), at: place)
            default: if dice.chance(20) { value.removeSubrange(place...) }
            }
        }
        return value
    }

    /// The JSON with a field replaced by another type or by an injection.
    private func replacing(_ field: String, in json: String, _ dice: inout TestSeed) -> String {
        guard let name = json.range(ofText: "\"\(field)\":"), let end = json[name.upperBound...].endOfValue else {
            return json
        }
        // Ids must remain unique, or the records would conflict with the first one.
        let suffix = field == "requestId" ? "-" + String(dice.next(), radix: 36) : ""
        let value = dice.chance(50) ? "\"\(dice.pick(Self.injections))\(suffix)\"" : dice.pick(Self.values)
        return json[..<name.upperBound] + value + json[end...]
    }

    private func large(_ json: String, _ dice: inout TestSeed) -> [UInt8] {
        switch dice.below(200) {
        // Large records are rare, or one portion would exceed a partition of the mock cluster before it is read.
        case 0: return padded(json, by: 900_000)
        case 1...9: return padded(json, by: 200_000)
        case 10...39:
            // Lengths around the limit of 64 KiB.
            let rest = 65_536 - json.utf8.count - 10 + dice.below(5)
            return padded(json, by: rest)
        case 40...49: return [UInt8](repeating: UInt8(ascii: "["), count: 1 + dice.below(60_000))
        default:
            let depth = 1 + dice.below(2000)
            let nested = String(repeating: #"{"a":["#, count: depth) + String(repeating: "]}", count: depth)
            return Array((json.dropLast() + #","client":\#(nested)}"#).utf8)
        }
    }

    private func padded(_ json: String, by count: Int) -> [UInt8] {
        Array((json.dropLast() + #","note":"\#(String(repeating: "x", count: count))"}"#).utf8)
    }

    private func headers(_ dice: inout TestSeed) -> [RecordHeader] {
        var headers = [
            RecordHeader("ce_specversion", dice.pick(["1.0", "1.0", "1.0", "0.3", "", "1.0\u{0}"])),
            RecordHeader("ce_type", dice.pick([type, type, type, "com.example.other", ""])),
            RecordHeader("ce_id", dice.pick(["1", "", "a\nb", "'; DROP TABLE courier.send; --"])),
            RecordHeader("content-type", dice.pick(Self.contentTypes)),
            RecordHeader("traceparent", dice.pick(Self.traces)),
        ]
        headers.append(RecordHeader(name: "nothing", value: nil))
        headers.append(RecordHeader(name: "bytes", value: bytes(dice.below(300), &dice)))
        if dice.chance(30) { headers.remove(at: dice.below(headers.count)) }
        if dice.chance(30) { headers.append(dice.pick(headers)) }
        return headers
    }

    /// The value as data of a CloudEvents envelope that may lack an attribute.
    private func structured(_ value: [UInt8]?, _ dice: inout TestSeed) -> [UInt8] {
        var attributes = [#""specversion":"1.0""#, #""id":"1""#, #""source":"/tests""#, "\"type\":\"\(type)\""]
        if dice.chance(60) { attributes.remove(at: dice.below(attributes.count)) }
        let data = String(decoding: value ?? [], as: UTF8.self)
        return Array("{\(attributes.joined(separator: ",")),\"data\":\(data)}".utf8)
    }

    private func bytes(_ count: Int, _ dice: inout TestSeed) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: dice.next()) }
    }

    private static let contentTypes = ["application/json", "text/xml", "application/cloudevents+avro", ""]
    private static let traces = ["00-1-2-3", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"]

    private static let pieces: [[UInt8]] = [
        [0], [0xff, 0xfe], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], Array("\\ud800".utf8),
        Array("\\u0000".utf8), Array("\"".utf8), Array("{".utf8), Array("}".utf8), Array("\r\n".utf8), [0x1b, 0x5b],
    ]

    /// Inserted into JSON strings verbatim.
    private static let injections = [
        "'; DROP TABLE courier.send; --", "' OR '1'='1", "$1", "\\u0000", "\\ud800", "\\udfff\\ud800", "%s%s%n",
        "\\n{\\\"event\\\":\\\"forged\\\"}", "\\r\\nSet-Cookie: a=b", "\\u001b[2J", "\\u2028\\u2029",
        "${jndi:ldap://a}",
        "\\u202eevil", "../../etc/passwd", "<script>", "{{7*7}}", "", " ", "\\\\", "NaN", "null", "\\ud83d\\ude00",
    ]

    private static let values = [
        "null", "true", "0", "-0", "1e999", "-1e-999", "123456789012345678901234567890", "[]", "{}", "[[]]", "\"\"",
        "0.1e+", "01", "{\"phoneNumber\":[]}", "1.7976931348623157e308",
    ]

    /// Additional members, some with the names of existing ones.
    private static let members = [
        #""requestId":"twice""#, #""recipient":{}"#, #""purpose":"sign_up""#, #""deadline":"0000-00-00T99:99:99Z""#,
        #""requestedAt":"9999-12-31T23:59:59.999999999Z""#, #""client":{"ip":"::ffff:999.1.1.1"}"#,
        #""appVerification":{"method":"recaptcha","score":1e308}"#, #""autofill":{"domain":"evil.example\n@bank"}"#,
        #""":"""#, #""__proto__":{"a":1}"#, #""tenant":"'--""#, #""languageCode":"x-\u0000""#, #""subject":"\ud800""#,
    ]
}

extension StringProtocol {
    /// The first range of a text.
    fileprivate func range(ofText text: String) -> Range<Index>? {
        indices.lazy.filter { self[$0...].hasPrefix(text) }.first.map { start in
            start..<index(start, offsetBy: text.count)
        }
    }

    /// The end of the JSON value at the start of the text: the next comma or brace outside strings and objects.
    fileprivate var endOfValue: Index? {
        var depth = 0
        var isText = false
        for index in indices {
            switch self[index] {
            case "\"": isText.toggle()
            case "{" where !isText: depth += 1
            case "}" where !isText && depth > 0: depth -= 1
            case "}" where !isText, "," where !isText && depth == 0: return index
            default: break
            }
        }
        return nil
    }
}
