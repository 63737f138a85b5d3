// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import Testing
import Verification

@Suite struct CodesKeyRingTests {
    private static func key(_ byte: UInt8, count: Int = 32) -> [UInt8] { [UInt8](repeating: byte, count: count) }

    @Test func `the first key of a ring makes new values and the others still serve`() throws {
        let ring = try #require(KeyRing([(KeyID(7), Self.key(1)), (KeyID(-3), Self.key(2, count: 64))]))
        #expect(ring.activeID == KeyID(7))
        #expect(ring.active == RingKey(Self.key(1)))
        #expect(ring[KeyID(7)] == RingKey(Self.key(1)))
        #expect(ring[KeyID(-3)] == RingKey(Self.key(2, count: 64)))
        #expect(ring[KeyID(8)] == nil)
    }

    @Test func `a ring is neither empty nor has an id twice nor a short key`() {
        #expect(KeyRing([]) == nil)
        #expect(KeyRing([(KeyID(1), Self.key(1)), (KeyID(1), Self.key(2))]) == nil)
        #expect(KeyRing([(KeyID(1), Self.key(1)), (KeyID(1), Self.key(1))]) == nil)
        #expect(KeyRing([(KeyID(1), Self.key(1, count: 31))]) == nil)
        #expect(KeyRing([(KeyID(1), Self.key(1)), (KeyID(2), [])]) == nil)
        #expect(KeyRing([(KeyID(1), Self.key(1)), (KeyID(2), Self.key(1))]) != nil)
    }

    @Test func `a ring shows how many keys it has and none of them`() throws {
        let ring = try #require(KeyRing([(KeyID(7), Self.key(0x41)), (KeyID(8), Self.key(0x42))]))
        #expect(String(describing: ring) == "KeyRing(active: 7, count: 2)")
        for text in views(of: CodeKeys(code: ring, hash: ring, fingerprint: ring, seal: ring)) + views(of: ring) {
            #expect(!text.contains("AAAA") && !text.contains("65, 65") && !text.contains("4141"))
            #expect(!text.contains("SymmetricKey") && !text.contains("RingKey"))
        }
    }

    @Test func `a payload's digest depends on the key`() {
        let keys = CodeKeys.test
        let other = CodeKeys(code: .test(1), hash: .test(2), fingerprint: .test(9), seal: .test(4))
        #expect(keys.digest(of: [1, 2]) == keys.digest(of: [1, 2]))
        #expect(keys.digest(of: [1, 2]) != keys.digest(of: [1, 2, 0]))
        #expect(keys.digest(of: [1, 2]) != other.digest(of: [1, 2]))
    }
}

@Suite struct CodesSealTests {
    private let key = KeyRing.test(4).active
    private let verification = VerificationID(UUIDValue(0x0193_eb6b_d57e_75fe_bd76_3f89_5c7f_fd62))

    private func seal(_ text: String) -> [UInt8]? {
        var generator = KernelRandomness()
        return RecipientSeal.seal(text, for: verification, key: key, using: &generator)
    }

    @Test(arguments: ["+4915123456789", "", "a@example.com", "é🔑"])
    func `a seal opens to what was sealed`(text: String) throws {
        let sealed = try #require(seal(text))
        #expect(RecipientSeal.open(sealed, for: verification, key: key) == text)
        #expect(sealed.count == text.utf8.count + 12 + 16)
        #expect(seal(text) != sealed)
    }

    @Test func `a seal opens neither in another row nor with another key`() throws {
        let sealed = try #require(seal("+4915123456789"))
        let other = VerificationID(UUIDValue(verification.uuid.value ^ 1))
        #expect(RecipientSeal.open(sealed, for: other, key: key) == nil)
        #expect(RecipientSeal.open(sealed, for: verification, key: KeyRing.test(5).active) == nil)
    }

    @Test func `a seal that was changed or cut does not open`() throws {
        let sealed = try #require(seal("+4915123456789"))
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            #expect(RecipientSeal.open(changed, for: verification, key: key) == nil)
            #expect(RecipientSeal.open(Array(sealed.prefix(index)), for: verification, key: key) == nil)
        }
    }
}

/// Checks that interpolation, debug descriptions and `dump` show no secret.
@Suite struct CodesHidingTests {
    static let number = "+4915123456789"

    @Test func `a code hides its digits`() {
        let code = VerificationCode(
            verification: VerificationID(UUIDValue(1)),
            generation: 1,
            length: 10,
            key: KeyRing.test(1).active
        )
        for text in views(of: code) { #expect(!text.contains(code.digits)) }
        #expect(String(describing: code) == "<code>")
    }

    @Test func `a recipient shows itself masked`() throws {
        let recipient = Recipient.phone(try #require(PhoneNumber(Self.number)))
        for text in views(of: recipient) {
            #expect(!text.contains("4915123456789") && !text.contains("5123456"))
        }
        #expect(String(describing: recipient) == "+4********6789")
    }

    @Test func `a claimed send hides its code and its recipient`() throws {
        var tables = DecisionTables()
        let claim = try #require(
            tables.intake(.request(id: "r1", phoneNumber: Self.number, at: tables.now)).sends.first
        )
        for text in views(of: claim) + views(of: [claim.id: claim]) {
            #expect(!text.contains(claim.code.digits))
            #expect(!text.contains("5123456"))
        }
    }

    @Test func `a message for a provider hides its text and its recipient`() throws {
        let message = OutboundMessage(
            sendID: SendID(UUIDValue(1)),
            content: .sms(TextMessage(recipient: try #require(PhoneNumber(Self.number)), text: "987654 is your code")),
            validity: .seconds(600),
            callDeadline: .seconds(10),
            leaveBy: .now + .seconds(60)
        )
        for text in views(of: message) {
            #expect(!text.contains("987654"))
            #expect(!text.contains("5123456"))
        }
    }
}

private func views(of value: Any) -> [String] {
    var dumped = ""
    dump(value, to: &dumped)
    return ["\(value)", String(describing: value), String(reflecting: value), dumped]
}
