// SPDX-License-Identifier: Apache-2.0

import Formats
import Ledger
import TestSupport
import Testing
import Verification

@Suite struct RuleReasonTests {
    private static let reasons: Set<String> = [
        "region_not_allowed", "region_confirmed_only", "number_type_not_allowed", "invalid_phone_number",
        "invalid_request", "app_verification_required", "app_verification_failed", "quota_recipient", "quota_ip",
        "quota_subject", "quota_device", "quota_tenant", "max_sends", "locked", "test_number_only", "unknown_tenant",
        "request_id_conflict",
        "send_pending", "resend_window", "duplicate_request", "stale_request", "deadline",
    ]

    @Test func `a tour through the rule book meets every reason, each with its cause alone`() async throws {
        let seen = try await RuleDesk.with(try Self.policy()) { desk async throws in
            var seen: [String] = []
            try await Self.visitNumbers(&desk, &seen)
            try await Self.visitTimes(&desk, &seen)
            try await Self.visitSlots(&desk, &seen)
            try await Self.visitLimits(&desk, &seen)
            return seen
        }
        #expect(Set(seen) == Self.reasons)
        #expect(seen.count == Self.reasons.count)
    }

    private static func policy() throws -> Policy {
        let germany = try #require(Region("DE"))
        let india = try #require(Region("IN"))
        func tenant(_ change: (inout TenantPolicy) -> Void) throws -> TenantPolicy {
            try #require(Policy.desk(change).tenants[RuleDesk.tenant])
        }
        let once = [RateLimit(count: 1, per: .seconds(60))]
        return Policy(
            version: "tour",
            tenants: [
                "t": try tenant {
                    $0.regions = RegionPolicy(.allowlistOnly(allowed: [germany, india]), confirmedOnly: [india])
                    $0.resend.windows = []
                },
                "app": try tenant { $0.appVerification = .on(required: true, minimumScore: 0.5) },
                "off": try tenant { $0.appVerification = .off },
                "window": try tenant { _ in },
                "recipient": try tenant { $0.limits.perRecipient = once },
                "ip": try tenant { $0.limits.perIP = once },
                "subject": try tenant { $0.limits.perSubject = once },
                "device": try tenant { $0.limits.perDevice = once },
                "tenant": try tenant { $0.limits.perTenant = once },
            ]
        )
    }

    private static func visitNumbers(_ desk: inout RuleDesk, _ seen: inout [String]) async throws {
        seen.append(try await desk.ask { $0.number = "+12120000001" })
        seen.append(try await desk.ask { $0.number = "+919000000001" })
        #expect(
            try await desk.ask {
                $0.number = "+919000000001"
                $0.isConfirmed = true
            } == "send 1 of code 1"
        )
        seen.append(try await desk.ask { $0.number = "+4930000001" })
        seen.append(try await desk.ask { $0.number = "+4912345671" })
        seen.append(try await desk.ask { $0.fault = .purpose })
        seen.append(try await desk.ask { $0.tenant = "nobody" })
        seen.append(try await desk.ask { $0.tenant = "off" })
        seen.append(try await desk.ask { $0.tenant = "app" })
        seen.append(
            try await desk.ask {
                $0.tenant = "app"
                $0.shown = ModelRequest.Shown(score: 0.49)
            }
        )
        #expect(
            try await desk.ask {
                $0.tenant = "app"
                $0.shown = ModelRequest.Shown(score: 0.5)
            } == "send 1 of code 1"
        )
    }

    private static func visitTimes(_ desk: inout RuleDesk, _ seen: inout [String]) async throws {
        let now = desk.now
        seen.append(try await desk.ask { $0.requestedAt = now - .seconds(301) })
        seen.append(try await desk.ask { $0.deadline = now - .seconds(1) })
    }

    private static func visitSlots(_ desk: inout RuleDesk, _ seen: inout [String]) async throws {
        #expect(try await desk.ask(settle: nil) { $0.id = "known" } == "send 1 of code 1")
        seen.append(try await desk.ask())
        #expect(try await desk.ask { $0.tenant = "window" } == "send 1 of code 1")
        seen.append(try await desk.ask { $0.tenant = "window" })
        seen.append(try await desk.ask { $0.id = "known" })
        seen.append(
            try await desk.ask {
                $0.id = "known"
                $0.language = "de"
            }
        )
        #expect(try await desk.ask { $0.purpose = .signUp } == "send 1 of code 1")
        seen.append(try await desk.ask { $0.purpose = .signUp })
        _ = try await desk.guess(5, isRight: false)
        seen.append(try await desk.ask { $0.purpose = .signUp })
    }

    private static func visitLimits(_ desk: inout RuleDesk, _ seen: inout [String]) async throws {
        for tenant in ["recipient", "ip", "subject", "device", "tenant"] {
            for person in 0..<2 {
                let answer = try await desk.ask {
                    $0.tenant = tenant
                    $0.ip = "192.0.2.1"
                    $0.subject = "account"
                    $0.device = "device"
                    $0.purpose = person == 0 ? .signIn : .signUp
                    if tenant != "recipient" { $0.number = "+491510000000\(person)" }
                }
                if person == 0 { #expect(answer == "send 1 of code 1") } else { seen.append(answer) }
            }
        }
    }
}
