// SPDX-License-Identifier: Apache-2.0

package import Formats

/// The probes that one worker lets through half-open scopes: its share of the fleet's, by its share of the partitions.
///
/// Workers do not coordinate single probes, which would need a row that all of them write. Each allows its first probe
/// at once, so a fleet may allow one more per worker.
package struct BrakeTurns: Sendable, Equatable {
    private struct Round: Sendable, Equatable {
        var beganAt: Timestamp
        var last: Timestamp
        var count: Int
    }

    private static let mostScopes = 10_000

    /// The worker's share of the topic's partitions, above 0 and at most 1.
    package private(set) var share = 1.0
    private var rounds: [BrakeTurn: Round] = [:]
    private var minutes: [String: [Timestamp]] = [:]

    package init() {}

    package mutating func setShare(_ share: Double) { self.share = min(1, max(0.001, share)) }

    /// True if one more request may pass a half-open scope, for a fleet that allows `perMinute` of them.
    func isFree(_ turn: BrakeTurn, perMinute: Int, at now: Timestamp) -> Bool {
        let minute = minutes[turn.tenant, default: []].count { $0 > now - .seconds(60) }
        guard minute < part(of: perMinute) else { return false }
        guard let round = rounds[turn] else { return true }
        if now - round.last < BrakeBlock.probeInterval / share { return false }
        return now - round.beganAt >= BrakeBlock.probeTime || round.count < part(of: BrakeBlock.probes)
    }

    package mutating func take(_ turn: BrakeTurn, at now: Timestamp) {
        forget(at: now)
        let minute = minutes[turn.tenant, default: []].filter { $0 > now - .seconds(60) }
        minutes[turn.tenant] = minute + [now]
        if let round = rounds[turn], now - round.beganAt < BrakeBlock.probeTime {
            rounds[turn] = Round(beganAt: round.beganAt, last: now, count: round.count + 1)
        } else {
            rounds[turn] = Round(beganAt: now, last: now, count: 1)
        }
    }

    private func part(of whole: Int) -> Int { max(1, Int((Double(whole) * share).rounded())) }

    private mutating func forget(at now: Timestamp) {
        if rounds.count < Self.mostScopes { return }
        let oldest = now - max(BrakeBlock.probeTime, BrakeBlock.probeInterval / share)
        rounds = rounds.filter { $0.value.last > oldest }
    }
}

/// One scope of one tenant.
package struct BrakeTurn: Sendable, Hashable {
    package let tenant: String
    package let key: BrakeKey

    package init(tenant: String, key: BrakeKey) {
        self.tenant = tenant
        self.key = key
    }
}
