// SPDX-License-Identifier: Apache-2.0

import Courier
import Formats
import KafkaClient
import KafkaTools
import Verification

/// Replays a range of the request topic.
struct TopicReplay {
    private let reader: TopicReader
    private let partitions: Int

    /// The start of the range; nil for the start of the topic.
    let start: Timestamp?

    /// The exclusive end of the range; nil for the end of the topic at its opening.
    let end: Timestamp?

    /// The time of the opening: a record with a later time comes from a clock that is ahead.
    let latest: Timestamp

    /// The maximum time without a record before the brokers count as unreachable.
    private static let maxWait = Duration.seconds(60)

    /// Opens the topic at the start of the range.
    static func open(
        configuration: KafkaConfiguration,
        topic: String,
        start: Timestamp?,
        end: Timestamp?,
        latest: Timestamp
    ) async throws(KafkaError) -> TopicReplay {
        let from = start.map { TopicReader.Start.timestamp($0.microseconds / 1000) } ?? .beginning
        let reader = try await TopicReader.open(configuration: configuration, topic: topic, from: from)
        do throws(KafkaError) {
            // Only after the reader has found the topic: the admin client's request could make brokers create it.
            let partitions = try await KafkaAdmin.partitionCount(of: topic, configuration: configuration)
            guard partitions > 0 else { throw KafkaError(.unknownTopicOrPartition) }
            return TopicReplay(reader: reader, partitions: partitions, start: start, end: end, latest: latest)
        } catch {
            await reader.close()
            throw error
        }
    }

    /// Replays the range, once; a cancelled task ends it early, with a report of the part replayed.
    ///
    /// It ends at the end of the topic at its opening, or once every partition has passed the end of the range.
    func run(_ replay: PolicyReplay, progress: ReplayProgress) async throws(KafkaError) -> ReplayReport {
        var (replay, progress) = (replay, progress)
        var buffer = ReorderBuffer(partitions: partitions, latest: latest)
        var passed: Set<Int32> = []
        var lastRecord = ContinuousClock.now
        do throws(KafkaError) {
            while !Task.isCancelled, passed.count < partitions, !(await reader.reachedEnd) {
                let records = try await reader.next(maximum: 1000, within: .seconds(1))
                if !records.isEmpty { lastRecord = .now }
                if ContinuousClock.now - lastRecord > Self.maxWait { throw KafkaError(.timedOut) }
                for record in records.lazy.map({ InboundRecord($0) }) {
                    if isPastRange(record) { passed.insert(record.partition) }
                    guard isInRange(record) else { continue }
                    buffer.insert(record)
                    while let earliest = buffer.popOverflow() { replay.replay(earliest) }
                }
                progress.show(replay.report)
            }
        } catch {
            await reader.close()
            throw error
        }
        await reader.close()
        while !Task.isCancelled, let record = buffer.popFirst() {
            replay.replay(record)
            progress.show(replay.report)
        }
        var report = replay.report
        report.lateRecords = buffer.lateCount
        report.isInterrupted = Task.isCancelled
        return report
    }

    /// True when the record's partition has passed the range; a time beyond `latest` proves nothing.
    private func isPastRange(_ record: InboundRecord) -> Bool {
        guard let end, let time = record.timestamp else { return false }
        return time >= end && time <= latest
    }

    private func isInRange(_ record: InboundRecord) -> Bool {
        guard let time = record.timestamp else { return true }
        return start.map { time >= $0 } ?? true && end.map { time < $0 } ?? true
    }
}

/// Prints the progress of a long replay, at the rate of `ProgressClock`.
struct ReplayProgress: Sendable {
    private let start: Timestamp?
    private let end: Timestamp
    private let write: @Sendable (String) -> Void
    private var clock = ProgressClock()
    private var shownRecords = 0

    init(start: Timestamp?, end: Timestamp, write: @escaping @Sendable (String) -> Void) {
        self.start = start
        self.end = end
        self.write = write
    }

    mutating func show(_ report: ReplayReport) {
        guard let elapsed = clock.elapsed() else { return }
        let rate = (report.records - shownRecords) * 1_000_000 / Int(max(1, elapsed.microseconds))
        shownRecords = report.records
        let place = report.last.map { " to \($0.rfc3339)" } ?? ""
        write("\(report.records.grouped) records, \(rate.grouped) a second,\(place)\(percent(report))")
    }

    /// The replayed part of the range's time, in percent.
    private func percent(_ report: ReplayReport) -> String {
        guard let first = start ?? report.first, let last = report.last, end > first else { return "" }
        let share = Double((last - first).microseconds) / Double((end - first).microseconds)
        return " (\(Int(min(max(share, 0), 1) * 100)) %)"
    }
}
