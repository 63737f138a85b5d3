// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import TestTools
import Testing
import Verification

/// Tests windows that another worker inserts while a batch is decided.
@Suite struct WindowChangeTests {
    private static let now = Timestamp.test
    private static let addresses = 3

    @Test func `a batch is kept exactly where it would be decided alike behind what another one let through`() {
        var seed = TestSeed("a batch behind another one's windows")
        var kept = 0
        for history in 0..<2_000 {
            let policy = Policy.test { tenant in
                tenant.limits.perIP = (0..<1 + seed.below(2)).map { _ in
                    RateLimit(count: 1 + seed.below(6), per: .seconds(30 + seed.below(90)))
                }
            }
            let screener = Screener(policy: policy, keys: .test, numbers: FixedNumbers())
            let candidates = (0..<1 + seed.below(6)).map { place in
                screener.candidate(
                    for: .request(
                        id: "r\(place)",
                        phoneNumber: "+4915\(100_000_000 + place)",
                        offset: Int64(place),
                        at: Self.now,
                        more: #","client":{"ip":"192.0.2.\#(seed.below(Self.addresses))"}"#
                    ),
                    now: Self.now
                )
            }
            var begun: [LimitKey: LimitWindow] = [:]
            for key in candidates.flatMap({ $0.possibleOutcomes.flatMap(\.limits) }) where seed.chance(60) {
                guard key.scope == .ip, begun[key] == nil else { continue }
                var window = LimitWindow()
                for ago in (0..<1 + seed.below(3)).map({ _ in seed.below(130) }).sorted(by: >) {
                    let time = Self.now - .seconds(ago) - .milliseconds(1)
                    window.admit(at: time, limits: [RateLimit(count: .max, per: .seconds(3600))])
                }
                begun[key] = window
            }

            let first = Self.decide(candidates, policy, [:])
            let again = Self.decide(candidates, policy, begun)
            let isAlike = first.sends.map(\.id) == again.sends.map(\.id) && first.outbox == again.outbox
            if let same = first.following(begun) {
                kept += 1
                #expect(isAlike, "history \(history)")
                #expect(Self.rows(same) == Self.rows(again), "history \(history)")
            } else {
                // A batch that already has a full window is decided again, even if the result is the same.
                #expect(!isAlike || !first.fullWindows.isEmpty, "history \(history)")
            }
        }
        #expect(kept > 200 && kept < 1_800, "\(kept) of 2,000 were kept")
    }

    private static func decide(
        _ candidates: [Candidate],
        _ policy: Policy,
        _ windows: [LimitKey: LimitWindow]
    ) -> IntakeChanges {
        IntakeRules.test(policy).decide(
            candidates,
            facts: IntakeFacts(
                now: now,
                requests: Dictionary(candidates.map { ($0.key, KnownRequest(of: $0)) }) { first, _ in first },
                slots: [:],
                verifications: [:],
                windows: windows
            )
        )
    }

    private static func rows(_ changes: IntakeChanges) -> [LimitKey: [UInt8]] {
        changes.windows.mapValues { $0.window.encoded + Array("\($0.expiry)".utf8) }
    }
}
