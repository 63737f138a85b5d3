// SPDX-License-Identifier: Apache-2.0

package import Formats
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
    /// A policy with one tenant `default`, a few regions, links to `example.com` and the route `main`.
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
            emailLinks: EmailLinkPolicy(authorizedDomains: ["example.com", "links.example.com"]),
            routes: Routes(fallback: ["main"])
        )
        change(&tenant)
        return Policy(version: version, tenants: ["default": tenant])
    }
}

/// A directory that reports every number as a German mobile, or with other fixed facts.
package struct FixedNumbers: NumberDirectory {
    private let facts: NumberFacts

    package init(region: String = "DE", isValid: Bool = true, type: NumberType = .mobile) {
        let region = Region(region) ?? .unknown
        facts = NumberFacts(region: region, candidates: [region], isValid: isValid, type: type)
    }

    package func facts(of number: PhoneNumber) -> NumberFacts { facts }
}

extension IntakeRules {
    package static func test(_ policy: Policy, keys: CodeKeys = .test) -> IntakeRules {
        IntakeRules(policy: policy, keys: keys, settings: .test)
    }
}

extension WorkerSettings {
    /// Settings with frequent sweeps, and otherwise the defaults.
    package static let test: WorkerSettings = test { _ in }

    /// The same with changes.
    package static func test(_ change: (inout WorkerSettings) -> Void) -> WorkerSettings {
        var settings = WorkerSettings()
        settings.source = "/test"
        settings.sweepInterval = .milliseconds(20)
        change(&settings)
        return settings
    }
}

extension InboundRecord {
    /// A request as a plain JSON record.
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

    /// A request for an e-mail link.
    package static func email(
        id: String,
        address: String = "ada@example.com",
        purpose: String = "sign_in",
        actionCode: String? = #"{"url":"https://example.com/finish?user=ada","handleCodeInApp":true}"#,
        offset: Int64 = 0,
        partition: Int32 = 0,
        at time: Timestamp,
        more: String = ""
    ) -> InboundRecord {
        let json = """
            {"requestId":"\(id)","channel":"email","purpose":"\(purpose)","recipient":{"email":"\(address)"},\
            "actionCode":\(actionCode ?? "null")\(more)}
            """
        return .raw(json, offset: offset, partition: partition, at: time)
    }

    /// A request for an app verification by silent push.
    package static func push(
        id: String,
        token: String = String(repeating: "0f", count: 32),
        purpose: String = "app_verification",
        offset: Int64 = 0,
        partition: Int32 = 0,
        at time: Timestamp,
        more: String = ""
    ) -> InboundRecord {
        let json = """
            {"requestId":"\(id)","channel":"apns","purpose":"\(purpose)","recipient":{"deviceToken":"\(token)",\
            "bundleId":"com.example.app","environment":"sandbox"}\(more)}
            """
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

extension Timestamp {
    /// 2026-11-20T12:00:00Z, the initial time of tests.
    package static let test = Timestamp(milliseconds: 1_795_176_000_000)
}

extension SendReference {
    /// The reference of a first claim, whose send has its own verification.
    package static func test(_ number: UInt128) -> SendReference {
        SendReference(
            id: SendID(UUIDValue(number)),
            verificationID: VerificationID(UUIDValue(number)),
            fence: 1,
            number: 1,
            requestID: "r",
            resendWindow: .zero,
            validity: nil,
            trace: nil
        )
    }
}

extension ClaimedSend {
    /// The code that a person types.
    ///
    /// A claim without one returns an empty code, which is never right.
    package var code: VerificationCode { credential.code ?? VerificationCode(fixed: "") }
}
