// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import Testing

@testable import Verification

@Suite struct BrakeKeysTests {
    /// The vectors of the reference implementation, for the key and the inputs 00, 01 and so on.
    @Test(
        arguments: [
            (0, 0x726f_db47_dd0e_0e31), (1, 0x93f5_f579_9a93_2462), (2, 0x3f2a_cc7f_57c2_9bdb),
        ] as [(Int, UInt64)]
    )
    func `the hash is SipHash-2-4`(words: Int, expected: UInt64) {
        var hash = SipHash(key: (0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908))
        for word in 0..<words { hash.append(0x0706_0504_0302_0100 + UInt64(word) * 0x0808_0808_0808_0808) }
        #expect(hash.finish() == expected)
    }

    private let hash = CodeKeys.test.brake

    private func number(_ text: String) throws -> PhoneNumber { try #require(PhoneNumber(text)) }

    @Test func `a prefix is the number less its last four digits, a range less six`() throws {
        let number = try number("+4915123456789")
        for (other, prefix, range) in [
            ("+4915123450000", true, true), ("+4915123459999", true, true), ("+4915123466789", false, true),
            ("+4915123999999", false, true), ("+4915124456789", false, false), ("+491512345678", false, false),
        ] {
            let other = try self.number(other)
            #expect((hash.prefix(of: number) == hash.prefix(of: other)) == prefix)
            #expect((hash.range(of: number) == hash.range(of: other)) == range)
        }
    }

    @Test func `of a number with fewer than ten digits it is three digits and five`() throws {
        let number = try number("+290123456")
        for (other, prefix, range) in [
            ("+290123999", true, true), ("+290124456", false, true), ("+290199456", false, true),
            ("+291123456", false, false),
        ] {
            let other = try self.number(other)
            #expect((hash.prefix(of: number) == hash.prefix(of: other)) == prefix)
            #expect((hash.range(of: number) == hash.range(of: other)) == range)
        }
    }

    @Test func `a prefix, a range and a client never share a key, and another fingerprint key makes others`() throws {
        let number = try number("+4915123456789")
        let longer = try self.number("+491512345678999")
        // The range of the longer number has the same digits as the prefix of this one.
        #expect(hash.prefix(of: number) != hash.range(of: longer))
        let other = BrakeHash(KeyRing.test(9).active)
        #expect(hash.prefix(of: number) != other.prefix(of: number))
        #expect("\(hash)" == "<key>")
    }

    @Test func `a client is an IPv4 address or a network of 64 bits`() throws {
        func key(_ text: String) throws -> Int64 { hash.client(try #require(IPAddress(text))) }
        #expect(try key("192.0.2.1") == key("::ffff:192.0.2.1"))
        #expect(try key("192.0.2.1") != key("192.0.2.2"))
        #expect(try key("2001:db8::1") == key("2001:db8::ffff:1"))
        #expect(try key("2001:db8::1") != key("2001:db8:0:1::1"))
    }

    @Test(arguments: [
        ("203.0.113.0/24", ["203.0.113.0", "203.0.113.255", "::ffff:203.0.113.7"], ["203.0.112.255", "203.0.114.0"]),
        ("198.51.100.7", ["198.51.100.7"], ["198.51.100.6"]),
        ("0.0.0.0/0", ["198.51.100.7"], ["2001:db8::1"]),
        ("2001:db8::/32", ["2001:db8:ffff::1"], ["2001:db9::1", "32.1.13.184"]),
        ("2001:db8:0:1::/64", ["2001:db8:0:1:2::3"], ["2001:db8::1"]),
    ])
    func `a network holds its clients`(text: String, inside: [String], outside: [String]) throws {
        let network = try #require(IPNetwork(text))
        for text in inside { #expect(network.contains(try #require(IPAddress(text)))) }
        for text in outside { #expect(!network.contains(try #require(IPAddress(text)))) }
    }

    @Test(arguments: [
        "", "/24", "203.0.113.0/", "203.0.113.0/33", "203.0.113.0/+8", "203.0.113.0/08", "203.0.113.1/24",
        "2001:db8::/65", "2001:db8:1::/32", "fe80::1%eth0", "203.0.113.0/24/8",
    ])
    func `a text that is no network is none`(text: String) {
        #expect(IPNetwork(text) == nil)
    }
}
