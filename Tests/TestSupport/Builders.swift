// SPDX-License-Identifier: Apache-2.0

package import Verification

extension CodeKeys {
    /// Keys for tests: each ring has one key of repeated bytes.
    package static let test = CodeKeys(
        code: .test(1),
        hash: .test(2),
        fingerprint: .test(3),
        seal: .test(4)
    )
}

extension KeyRing {
    package static func test(_ byte: UInt8, id: Int16 = 1) -> KeyRing {
        guard let ring = KeyRing([(KeyID(id), [UInt8](repeating: byte, count: 32))]) else {
            preconditionFailure("32 bytes make a ring")
        }
        return ring
    }
}

extension Policy {
    /// One tenant `default` that allows a few regions and sends by `main`.
    package static func test(
        version: String = "test.1",
        _ change: (inout TenantPolicy) -> Void = { _ in }
    ) -> Policy {
        let regions = ["US", "GB", "DE", "FR", "IN"].compactMap { Region($0) }
        var tenant = TenantPolicy(
            appName: "Acme",
            regions: RegionPolicy(
                .allowlistOnly(allowed: Set(regions)),
                confirmedOnly: Set(["IN"].compactMap { Region($0) })
            ),
            routes: Routes(fallback: ["main"])
        )
        change(&tenant)
        return Policy(version: version, tenants: ["default": tenant])
    }
}

/// A directory that takes every number for a German mobile, save where a test says otherwise.
package struct FixedNumbers: NumberDirectory {
    private let facts: NumberFacts

    package init(region: String = "DE", isValid: Bool = true, type: NumberType = .mobile) {
        let region = Region(region) ?? .unknown
        facts = NumberFacts(region: region, candidates: [region], isValid: isValid, type: type)
    }

    package func facts(of number: PhoneNumber) -> NumberFacts { facts }
}

extension InboundRecord {
    /// A request as a bare JSON record.
    package static func request(
        id: String,
        phoneNumber: String = "+4915123456789",
        purpose: String = "sign_in",
        offset: Int64 = 0,
        partition: Int32 = 0,
        at time: Timestamp,
        more: String = ""
    ) -> InboundRecord {
        let json =
            #"{"requestId":"\#(id)","purpose":"\#(purpose)","recipient":{"phoneNumber":"\#(phoneNumber)"}\#(more)}"#
        return .raw(json, offset: offset, partition: partition, at: time)
    }

    package static func raw(
        _ text: String,
        offset: Int64 = 0,
        partition: Int32 = 0,
        at time: Timestamp
    ) -> InboundRecord {
        InboundRecord(
            topic: "verification.requests",
            partition: partition,
            offset: offset,
            timestamp: time,
            key: nil,
            value: Array(text.utf8),
            headers: []
        )
    }
}

extension Screener {
    package func candidate(for record: InboundRecord, now: Timestamp) -> Candidate {
        var generator = SystemRandomNumberGenerator()
        return candidate(for: record, now: now, using: &generator)
    }
}
