// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The requests of an attack; its numbers are reserved for fiction, its addresses for documentation.
package struct AttackPlan {
    package enum Kind: String, Sendable, CaseIterable {
        case prefix, range, ip, spread
    }

    private let kind: Kind
    private let tenant: String
    private let people: [(number: String, purpose: String)]
    private var place = 0

    /// Numbers of Germany that the Bundesnetzagentur keeps for films: of one range, and of four prefixes.
    ///
    /// They are few, and a number may have a code for each purpose.
    private static let range = ["9925904", "9968532", "9973185", "9973186", "9980752"].map { "+49172\($0)" }
    private static let purposes = [
        "sign_in", "sign_up", "reauthentication", "account_link", "mfa_enrollment", "mfa_sign_in",
    ]

    /// Some US area codes: in each, the numbers 555 0100 to 0199 are never assigned.
    ///
    /// Without 202, of which some are the sandbox's test numbers: their faults would pause the providers.
    private static let areas = [
        201, 205, 206, 207, 208, 209, 210, 212, 213, 214, 215, 216, 217, 218, 301, 302, 303, 304, 305, 307, 308,
        309,
        310, 312, 313, 314, 315, 316, 317, 318, 401, 402, 404, 405, 406, 408, 409, 410, 412, 501, 502, 503, 504, 505,
        507,
        508, 509, 510, 512, 513,
    ]

    package init(_ kind: Kind, tenant: String) {
        self.kind = kind
        self.tenant = tenant
        let numbers =
            switch kind {
            case .prefix: Self.numbers(in: Self.areas[0])
            case .range: Self.range
            case .ip, .spread: Self.areas.flatMap(Self.numbers)
            }
        let purposes = kind == .range ? Self.purposes : ["sign_in"]
        people = purposes.flatMap { purpose in numbers.shuffled().map { ($0, purpose) } }
    }

    private static func numbers(in area: Int) -> [String] {
        (0..<100).map { "+1\(area)55501\($0 < 10 ? "0" : "")\($0)" }
    }

    /// The next request as JSON, and its number; after the last one the first one comes again.
    package mutating func next() -> (number: String, request: [UInt8]) {
        let (number, purpose) = people[place % people.count]
        place += 1
        let request = Request(
            requestId: "attack-\(UUID().uuidString)",
            tenant: tenant,
            purpose: purpose,
            // Some purposes are of an account.
            subject: kind == .range ? "attack-\(number.suffix(4))" : nil,
            recipient: .init(phoneNumber: number),
            client: .init(ip: address)
        )
        // The request has only texts, which can always be encoded.
        return (number, (try? JSONEncoder().encode(request)).map { Array($0) } ?? [])
    }

    private struct Request: Encodable {
        struct Recipient: Encodable {
            let phoneNumber: String
        }

        struct Client: Encodable {
            let ip: String
        }

        let requestId: String
        let tenant: String
        let purpose: String
        let subject: String?
        let recipient: Recipient
        let client: Client
    }

    private var address: String {
        if kind == .ip { return "203.0.113.7" }
        let groups = (0..<2).map { _ in String(UInt16.random(in: 1...UInt16.max), radix: 16) }
        return "2001:db8:\(groups.joined(separator: ":"))::1"
    }

    /// True if every broker of a list is on this machine.
    package static func isLocal(_ servers: String) -> Bool {
        let hosts = servers.split(separator: ",").map { $0.drop { $0 == " " } }
        let local = /(127\.\d+\.\d+\.\d+|localhost|\[::1\]):\d+/
        return !hosts.isEmpty && hosts.allSatisfy { $0.wholeMatch(of: local) != nil }
    }
}
