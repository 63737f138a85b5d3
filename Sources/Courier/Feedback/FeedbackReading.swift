// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

/// The part of a reader's rounds that finds messages whose codes were approved, for the providers that want to know.
///
/// A message is looked at when it comes to each age of `ApprovalCurve`, and reported once at most:
///
/// - A turn reports only approvals since it began, and only those within the lease of its last renewal: another reader
///   begins after that, by the same clock.
/// - Within a turn the sends that were reported are remembered until they are too old to be read again.
///
/// A worker that dies takes its queue along, and an approval after the last age is not reported.
struct FeedbackReading {
    /// The ages at which a message is looked at.
    static let ages = ApprovalCurve.readings

    /// The time that one statement reads.
    private static let slice = Duration.seconds(10)

    /// The time that a round may take, which is the brake's.
    private static let patience = Duration.seconds(1)

    /// The time after which a message is not read again: an age more than the last one.
    private static let memory = (ages.last ?? .zero) + .seconds(120)

    private struct Turn {
        let reader: UUIDValue
        let began: Timestamp

        /// Up to where messages are read, by age.
        var positions: [Timestamp]

        /// The sends that were reported, in two halves: the older one is forgotten when its last send is too old.
        var reported: (newer: Set<SendID>, older: Set<SendID>) = ([], [])
        var forgetsAt: Timestamp
    }

    let ledger: any FeedbackLedger
    let desk: FeedbackDesk
    private var turn: Turn?

    init(ledger: any FeedbackLedger, desk: FeedbackDesk) {
        self.ledger = ledger
        self.desk = desk
    }

    /// The number of sends that are remembered.
    var remembered: Int { turn.map { $0.reported.newer.count + $0.reported.older.count } ?? 0 }

    /// Reads what has become due in a turn that was renewed at `now`, by the database's clock, for the time of `lease`.
    mutating func read(in reader: UUIDValue, renewedAt now: Timestamp, lease: Duration) async throws {
        var turn = self.turn.flatMap { $0.reader == reader ? $0 : nil } ?? Self.begin(reader, now)
        defer { self.turn = turn }
        if turn.forgetsAt <= now {
            turn.reported = ([], turn.reported.newer)
            turn.forgetsAt = now + Self.memory
        }
        let start = ContinuousClock.now
        for index in Self.ages.indices {
            let end = now - Self.ages[index]
            while turn.positions[index] < end, .now < start + Self.patience {
                // After a long outage the oldest are past their last age.
                let from = max(turn.positions[index], now - Self.memory)
                let next = min(end, from + Self.slice)
                let found = try await ledger.confirmed(
                    from: from,
                    to: next,
                    by: desk.names,
                    approvedAfter: turn.began,
                    upTo: now + lease
                )
                desk.add(
                    found.filter {
                        !turn.reported.older.contains($0.send) && turn.reported.newer.insert($0.send).inserted
                    }
                )
                turn.positions[index] = next
            }
        }
    }

    private static func begin(_ reader: UUIDValue, _ now: Timestamp) -> Turn {
        Turn(reader: reader, began: now, positions: ages.map { now - $0 }, forgetsAt: now + memory)
    }
}
