// SPDX-License-Identifier: Apache-2.0

extension Checker {
    mutating func checkEvents() {
        var seen: [String: History.Event] = [:]
        var newest: [String: Int] = [:]
        for event in history.events.sorted(by: {
            ($0.place.partition, $0.place.offset) < ($1.place.partition, $1.place.offset)
        }) {
            if let first = seen[event.id] {
                if first.digest != event.digest || first.key != event.key {
                    report(.toldOnce, "event \(event.id) of request \(event.request) comes with two contents")
                }
                continue
            }
            seen[event.id] = event
            guard let verification = event.verification else { continue }
            if event.key != verification {
                report(.toldOnce, "event \(event.id) does not have its verification as key")
            }
            if event.sequence != newest[verification, default: 0] + 1 {
                report(.toldOnce, "verification \(verification): event \(event.sequence) is out of order")
            }
            newest[verification] = max(event.sequence, newest[verification, default: 0])
        }
        checkSequences(newest)
    }

    private mutating func checkSequences(_ newest: [String: Int]) {
        let rows = Dictionary(history.verifications.map { ($0.id, $0) }) { first, _ in first }
        for (id, sequence) in newest where rows[id]?.sequence ?? 0 < sequence {
            report(.toldOnce, "verification \(id): event \(sequence) has no change")
        }
        for row in history.verifications where newest[row.id, default: 0] < row.sequence {
            report(.toldOnce, "verification \(row.id): change \(row.sequence) has no event")
        }
        for key in history.outbox { report(.toldOnce, "\(key.stream) \(key.sequence) is still unpublished") }
        let inserts = Dictionary(grouping: history.outboxInserts, by: \.self)
        for (key, inserts) in inserts where inserts.count > 1 {
            report(.toldOnce, "\(key.stream) \(key.sequence) was written \(inserts.count) times")
        }
    }
}
