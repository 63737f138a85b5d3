// SPDX-License-Identifier: Apache-2.0

import Formats
import Logs
import Verification

/// Decides which changes of the brake's blocks are logged, and when a repeating line is due again.
struct BrakeNotices {
    enum Subject: Hashable {
        case asleep(String)
        case low(String, String)
    }

    private struct State: Equatable {
        let state: BrakeBlock.State
        let beganAt: Timestamp

        init(_ block: BrakeBlock) {
            (state, beganAt) = (block.state, block.beganAt)
        }
    }

    private static let silence = Duration.seconds(3600)

    /// The last logged state of each block that is not over.
    private var logged: [BrakeTurn: State] = [:]
    private var last: [Subject: Timestamp] = [:]

    /// Adopts blocks that the previous reader has logged already.
    mutating func know(_ blocks: [TenantBlock]) {
        logged = [:]
        for block in blocks where block.block.isInForce { logged[block.turn] = State(block.block) }
    }

    /// The event of a block's transition; nil if the block was only stored again.
    mutating func event(of changed: TenantBlock) -> LoggedEvent? {
        let block = changed.block
        let state = State(block)
        if logged[changed.turn] == state { return nil }
        logged[changed.turn] = block.isInForce ? state : nil
        let event: LoggedEvent =
            switch block.state {
            case .blocked: .brakeTripped
            case .halfOpen: .brakeHalfOpen
            case .ended: .brakeEnded
            }
        return event
    }

    /// True if a line about the subject was not written for an hour; it counts as written then.
    mutating func isDue(_ subject: Subject, at now: Timestamp) -> Bool {
        last = last.filter { now - $0.value < Self.silence }
        if last[subject] != nil { return false }
        last[subject] = now
        return true
    }

    func fields(of changed: TenantBlock) -> [LogField: LogValue] {
        let block = changed.block
        var fields = Self.fields(of: block.key, changed.tenant, region: block.region)
        switch block.state {
        case .blocked:
            fields[.expected] = LogValue(Int(block.shortfall.expected.rounded()))
            fields[.observed] = LogValue(block.shortfall.observed)
            fields[.trips] = LogValue(block.trips)
            fields[.until] = .text(block.changesAt.rfc3339)
            fields[.isAsleep] = changed.isAsleep ? .flag(true) : nil
        case .halfOpen:
            break
        case .ended:
            fields[.probes] = LogValue(block.probesSent)
            fields[.probesApproved] = LogValue(block.probesApproved)
        }
        return fields
    }

    static func fields(of launch: BrakeLaunch) -> [LogField: LogValue] {
        [
            .tenant: .text(launch.turn.tenant), .region: .text(launch.turn.key.regionName),
            .sends: LogValue(Int(launch.used)), .maximum: LogValue(Int(launch.maximum)),
        ]
    }

    static func fields(of key: BrakeKey, _ tenant: String, region: String) -> [LogField: LogValue] {
        [
            .tenant: .text(tenant), .scope: .text(key.scope.word), .region: .text(region),
            .brakeKey: .text(digits(of: key)),
        ]
    }

    /// A region's name, or the first 8 hexadecimal digits of another key, as commands show it.
    private static func digits(of key: BrakeKey) -> String {
        key.scope == .region ? key.regionName : String(hexadecimal(key.value).prefix(8))
    }
}
