// SPDX-License-Identifier: Apache-2.0

import Formats

/// True while a send has no outcome yet; no other send can begin before.
package struct RecordPlace: Sendable, Hashable {
    /// The 32-bit FNV-1a hash of the topic's name, enough to distinguish the few topics that a fleet reads.
    package let topic: Int32
    package let partition: Int32
    package let offset: Int64

    /// Milliseconds since 1970, Kafka's unit; nil for a record without a timestamp.
    package let time: Int64?

    /// The latest timestamp of this and all earlier records with the same request id; nil if unknown.
    package private(set) var latest: Int64?

    package init(topic: Int32, partition: Int32, offset: Int64, time: Int64?) {
        self.topic = topic
        self.partition = partition
        self.offset = offset
        self.time = time
        latest = time
    }

    package init(_ record: InboundRecord) {
        let digest = record.topic.utf8.reduce(2_166_136_261 as UInt32) { ($0 ^ UInt32($1)) &* 16_777_619 }
        self.init(
            topic: Int32(bitPattern: digest),
            partition: record.partition,
            offset: record.offset,
            time: record.timestamp?.milliseconds
        )
    }

    func isBeside(_ other: RecordPlace) -> Bool { topic == other.topic && partition == other.partition }

    /// True if the record is this one or an earlier one.
    ///
    /// Offsets alone do not prove it: they repeat in a recreated topic and in another cluster. If timestamps are known,
    /// the same offset must have the same timestamp, and an earlier offset a timestamp no later than `latest`.
    func covers(_ record: RecordPlace) -> Bool {
        guard isBeside(record), record.offset <= offset else { return false }
        guard let limit = record.offset == offset ? time : latest, let own = record.time else { return true }
        return record.offset == offset ? own == limit : own <= limit
    }

    /// The place of the next record with the same request id; its timestamp may be earlier, since producers' clocks
    /// differ.
    func followed(by next: RecordPlace) -> RecordPlace {
        guard offset < next.offset else { return next }
        var next = next
        next.latest = latest.flatMap { latest in next.time.map { max(latest, $0) } }
        return next
    }

    /// The place as numbers separated by slashes, as a row stores it.
    var text: String {
        let times = [time, latest].map { $0.map(String.init) ?? "" }
        return "\(topic)/\(partition)/\(offset)/\(times[0])/\(times[1])"
    }

    /// Reads the format of `text`; nil for any other text.
    init?(_ text: some StringProtocol) {
        let numbers = text.split(separator: "/", omittingEmptySubsequences: false).map { Int64($0) }
        guard numbers.count == 5, let topic = numbers[0].flatMap(Int32.init(exactly:)),
            let partition = numbers[1].flatMap(Int32.init(exactly:)), let offset = numbers[2]
        else { return nil }
        self.init(topic: topic, partition: partition, offset: offset, time: numbers[3])
        latest = numbers[4]
    }
}
