// SPDX-License-Identifier: Apache-2.0

/// The place of a record: its partition, its offset there, and its time.
package struct RecordPlace: Sendable, Hashable {
    /// 32 bits of the topic's name (FNV-1a), which tell the few topics apart that a fleet ever reads.
    package let topic: Int32
    package let partition: Int32
    package let offset: Int64

    /// In milliseconds since 1970, as Kafka counts; nil for a record without a time.
    package let time: Int64?

    /// The latest time of the records with one request id up to this one; nil when nobody knows it.
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

    /// Whether a record is this one or one before it.
    ///
    /// A topic that is made anew, or that of another cluster, gives its offsets a second time: a record with the same
    /// offset has the same time, too, and one with an earlier offset is no younger than the latest up to here.
    func covers(_ record: RecordPlace) -> Bool {
        guard isBeside(record), record.offset <= offset else { return false }
        guard let limit = record.offset == offset ? time : latest, let own = record.time else { return true }
        return record.offset == offset ? own == limit : own <= limit
    }

    /// The place of the next record with the same request id; producers' clocks differ.
    func followed(by next: RecordPlace) -> RecordPlace {
        guard offset < next.offset else { return next }
        var next = next
        next.latest = latest.flatMap { latest in next.time.map { max(latest, $0) } }
        return next
    }

    /// The place as a text of numbers.
    var text: String {
        let times = [time, latest].map { $0.map(String.init) ?? "" }
        return "\(topic)/\(partition)/\(offset)/\(times[0])/\(times[1])"
    }

    /// Nil for a text that is no place.
    init?(_ text: some StringProtocol) {
        let numbers = text.split(separator: "/", omittingEmptySubsequences: false).map { Int64($0) }
        guard numbers.count == 5, let topic = numbers[0].flatMap(Int32.init(exactly:)),
            let partition = numbers[1].flatMap(Int32.init(exactly:)), let offset = numbers[2]
        else { return nil }
        self.init(topic: topic, partition: partition, offset: offset, time: numbers[3])
        latest = numbers[4]
    }
}
