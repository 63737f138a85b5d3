// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import TestTools
import Testing
import Verification

@Suite struct IdentifiersTests {
    @Test(arguments: [
        "0193eb6b-d57e-75fe-bd76-3f895c7ffd62", "00000000-0000-0000-0000-000000000000",
        "ffffffff-ffff-ffff-ffff-ffffffffffff",
    ])
    func `a UUID is read and written in its usual form`(text: String) throws {
        let uuid = try #require(UUIDValue(text))
        #expect(uuid.description == text)
        #expect(UUIDValue(text.uppercased()) == uuid)
        #expect(hexadecimal(uuid.bytes) == text.replacing("-", with: ""))
    }

    @Test(arguments: [
        "", "0193eb6bd57e75febd763f895c7ffd62", "0193eb6b-d57e-75fe-bd76-3f895c7ffd6",
        "{193eb6b-d57e-75fe-bd76-3f895c7ffd62",
        "0193eb6b-d57e-75fe-bd76-3f895c7ffd622", "0193eb6b-d57e-75fe-bd763-f895c7ffd62",
        "0193eb6g-d57e-75fe-bd76-3f895c7ffd62", "0193eb6b-d57e-75fe-bd76-3f895c7ffd6\u{e9}",
        "0193eb6b-d57e-75fe-bd76--f895c7ffd62", "+193eb6b-d57e-75fe-bd76-3f895c7ffd62",
    ])
    func `what is no UUID is nil`(text: String) {
        #expect(UUIDValue(text) == nil)
    }

    @Test func `the bytes of a UUID are most significant first`() {
        let uuid = UUIDValue(0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0f)
        #expect(uuid.bytes == Array(0...15))
    }

    @Test func `a version 7 UUID holds its millisecond, its version and its variant`() {
        var random = TestSeed("version 7")
        var all: Set<UUIDValue> = []
        for _ in 0..<500 {
            let uuid = UUIDValue.version7(at: .test, using: &random)
            #expect(uuid.value >> 80 == 1_795_176_000_000)
            #expect(uuid.value >> 76 & 0xf == 7)
            #expect(uuid.value >> 62 & 0x3 == 2)
            all.insert(uuid)
        }
        #expect(all.count == 500)
        let bits = all.reduce(UInt128(0)) { $0 | $1.value } & ~all.reduce(UInt128.max) { $0 & $1.value }
        #expect(bits.nonzeroBitCount == 74, "every random bit is sometimes 0 and sometimes 1")
    }

    @Test func `version 7 UUIDs sort by time, as their texts and bytes do`() {
        var random = TestSeed("order")
        let times = (0..<200).map { Timestamp.test + .milliseconds($0) }
        let ids = times.map { VerificationID(.version7(at: $0, using: &random)) }
        #expect(ids == ids.sorted())
        #expect(ids.map(\.description) == ids.map(\.description).sorted())
        #expect(zip(ids, ids.dropFirst()).allSatisfy { $0.uuid.bytes.lexicographicallyPrecedes($1.uuid.bytes) })
    }

    @Test(arguments: [Timestamp(microseconds: .min), Timestamp(microseconds: -1), Timestamp(microseconds: .max)])
    func `no clock keeps an id from being made`(time: Timestamp) {
        var random = TestSeed(seed: 1)
        #expect(UUIDValue.version7(at: time, using: &random).value >> 76 & 0xf == 7)
    }
}

@Suite struct PhoneNumberTests {
    @Test(arguments: ["+1234567", "+123456789012345", "+4915123456789"])
    func `a number of 7 to 15 digits is kept as it is`(text: String) {
        #expect(PhoneNumber(text)?.e164 == text)
    }

    @Test(arguments: [
        "", "+", "+123456", "+1234567890123456", "+0123456789", "4915123456789", "++4915123456", "+49 15123456",
        "+49-15123456", "+4915123456a", "+٤٩١٥١٢٣٤٥٦", "+1800FLOWERS", "+4915123456\n", " +4915123456", "＋4915123456",
        "+49151234567\u{301}",
    ])
    func `what is no E164 is nil`(text: String) {
        #expect(PhoneNumber(text) == nil)
    }

    @Test(arguments: [
        ("+1234567", "+1****67"), ("+12345678", "+1****678"), ("+123456789", "+1*****789"),
        ("+1234567890", "+1*****7890"), ("+14155553434", "+1******3434"), ("+4915123456789", "+4********6789"),
        ("+123456789012345", "+1**********2345"),
    ])
    func `a number is masked but for its ends`(text: String, masked: String) {
        #expect(PhoneNumber(text)?.masked == masked)
    }

    @Test func `never more than half of the digits show`() throws {
        for count in 7...15 {
            let text = "+" + String("123456789123456".prefix(count))
            let masked = try #require(PhoneNumber(text)).masked
            #expect(masked.count == text.count)
            #expect(masked.count(where: \.isNumber) * 2 <= count)
        }
    }
}

@Suite struct RecordFieldTests {
    @Test(arguments: [
        [], [RecordField("a", "b")], [RecordField(name: "a", value: nil)], [RecordField(name: "", value: [])],
        [RecordField("a", "1"), RecordField(name: "a", value: nil), RecordField("é", "\u{0}"), RecordField("a", "")],
        [RecordField(name: "binary", value: [0xff, 0x00, 0xfe])],
    ])
    func `headers are read back as they were`(headers: [RecordField]) {
        #expect(RecordField.decode(RecordField.encode(headers)) == headers)
    }

    @Test func `no value and an empty value are told apart`() {
        let none = RecordField.encode([RecordField(name: "a", value: nil)])
        let empty = RecordField.encode([RecordField(name: "a", value: [])])
        #expect(none != empty)
        #expect(RecordField.decode(none).first?.value == nil)
        #expect(RecordField.decode(empty).first?.value == [])
    }

    @Test func `garbage ends the list and never traps`() {
        let whole = RecordField.encode([RecordField("a", "1"), RecordField("b", "2")])
        for count in 0..<whole.count {
            let read = RecordField.decode(Array(whole.prefix(count)))
            #expect(read == (count < whole.count / 2 ? [] : [RecordField("a", "1")]))
        }
        #expect(RecordField.decode([0xff, 0xff, 0xff, 0xff]).isEmpty)
        #expect(RecordField.decode(whole + [0xff, 0xff, 0xff, 0xff, 1]).count == 2)
        var random = TestSeed("headers")
        for _ in 0..<1_000 {
            let bytes = (0..<random.below(40)).map { _ in UInt8(random.below(6) == 0 ? 255 : random.below(3)) }
            _ = RecordField.decode(bytes)
        }
    }
}
