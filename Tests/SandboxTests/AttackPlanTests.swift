// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Sandbox

@Suite struct AttackPlanTests {
    private struct Request: Decodable {
        struct Recipient: Decodable {
            let phoneNumber: String
        }

        struct Client: Decodable {
            let ip: String
        }

        let requestId: String
        let tenant: String
        let purpose: String
        let subject: String?
        let recipient: Recipient
        let client: Client
    }

    private static func requests(_ kind: AttackPlan.Kind, _ count: Int) throws -> [Request] {
        var plan = AttackPlan(kind, tenant: #"a"b"#)
        return try (0..<count).map { _ in
            let (number, json) = plan.next()
            let request = try JSONDecoder().decode(Request.self, from: Data(json))
            #expect(request.recipient.phoneNumber == number)
            return request
        }
    }

    @Test(arguments: [AttackPlan.Kind.prefix, .ip, .spread])
    func `every number is kept for fiction and new, until all were used`(kind: AttackPlan.Kind) throws {
        let count = kind == .prefix ? 100 : 5000
        let requests = try Self.requests(kind, count)
        let numbers = requests.map(\.recipient.phoneNumber)
        let fiction = kind == .prefix ? /\+120155501\d{2}/ : /\+1[2-9]\d{2}55501\d{2}/
        #expect(numbers.allSatisfy { $0.wholeMatch(of: fiction) != nil })
        #expect(Set(numbers).count == count)
        // Test numbers would make the providers fail for everybody.
        #expect(!numbers.contains { $0.hasPrefix("+12025550") })
        #expect(Set(requests.map(\.requestId)).count == count)
        #expect(requests.allSatisfy { $0.tenant == #"a"b"# && $0.purpose == "sign_in" })
    }

    @Test func `a range has too few verifications in each prefix to trip one, and enough in all`() throws {
        let requests = try Self.requests(.range, 30)
        let people = Set(requests.map { "\($0.recipient.phoneNumber) \($0.purpose)" })
        #expect(people.count == 30)
        let numbers = requests.map(\.recipient.phoneNumber)
        #expect(Set(numbers.map { $0.dropLast(6) }) == ["+491729"])
        let prefixes = Dictionary(grouping: numbers) { $0.dropLast(4) }.mapValues(\.count)
        #expect(prefixes.count == 4 && prefixes.values.allSatisfy { $0 < 15 })
        #expect(requests.allSatisfy { $0.subject?.hasPrefix("attack-") == true })
    }

    @Test(arguments: AttackPlan.Kind.allCases)
    func `only an attack from one address has one`(kind: AttackPlan.Kind) throws {
        let addresses = Set(try Self.requests(kind, 200).map(\.client.ip))
        #expect(kind == .ip ? addresses == ["203.0.113.7"] : addresses.count > 190)
        if kind != .ip { #expect(addresses.allSatisfy { $0.hasPrefix("2001:db8:") }) }
    }

    @Test func `a broker elsewhere is refused`() {
        #expect(AttackPlan.isLocal("127.0.0.1:9092") && AttackPlan.isLocal("localhost:1, [::1]:2"))
        for servers in ["", "kafka:9092", "127.0.0.1:9092,kafka:9092", "localhost.example.com:9092", "10.0.0.1:1"] {
            #expect(!AttackPlan.isLocal(servers), "\(servers)")
        }
        #expect(!AttackPlan.isLocal("127.evil.example:9092"))
    }
}
