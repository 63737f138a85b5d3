// SPDX-License-Identifier: Apache-2.0

import Courier
import KafkaClient
import Verification

/// Reads a range of the request topic's past into a replay.
struct TopicReplay {
    private let reader: TopicReader
    private let partitions: Int

    /// The first moment of the range; nil for everything that the topic holds.
    let start: Timestamp?

    /// The first moment after the range; nil for all that the topic held when it was opened.
    let end: Timestamp?

    /// When it was opened: a record from after it comes from a clock that is ahead.
    let latest: Timestamp

    /// How long the brokers may give no record before they count as away.
    private static let patience = Duration.seconds(60)

    /// Finds the topic and the beginning of the range in it.
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
            // Only after the reader has found the topic: another client's question may make brokers create it.
            let partitions = try await KafkaAdmin.partitionCount(of: topic, configuration: configuration)
            guard partitions > 0 else { throw KafkaError(.unknownTopicOrPartition) }
            return TopicReplay(reader: reader, partitions: partitions, start: start, end: end, latest: latest)
        } catch {
            await reader.close()
            throw error
        }
    }

    /// Replays the range, once; a cancelled task ends it early, with what has been replayed by then.
    ///
    /// It ends where the topic ended when it was opened, or once every partition has passed the end of the range.
    func run(_ replay: PolicyReplay, progress: ReplayProgress) async throws(KafkaError) -> ReplayReport {
        var (replay, progress) = (replay, progress)
        var buffer = ReorderBuffer(partitions: partitions, latest: latest)
        var passed: Set<Int32> = []
        var lastRecord = ContinuousClock.now
        do throws(KafkaError) {
            while !Task.isCancelled, passed.count < partitions, !(await reader.reachedEnd) {
                let records = try await reader.next(maximum: 1000, within: .seconds(1))
                if !records.isEmpty { lastRecord = .now }
                if ContinuousClock.now - lastRecord > Self.patience { throw KafkaError(.timedOut) }
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

    /// Whether the range is over in the record's partition, which a clock that is ahead does not tell.
    private func isPastRange(_ record: InboundRecord) -> Bool {
        guard let end, let time = record.timestamp else { return false }
        return time >= end && time <= latest
    }

    private func isInRange(_ record: InboundRecord) -> Bool {
        guard let time = record.timestamp else { return true }
        return start.map { time >= $0 } ?? true && end.map { time < $0 } ?? true
    }
}

/// Tells how far a long replay has come, by the pace of `ProgressClock`.
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

    /// How much of the range's time is replayed.
    private func percent(_ report: ReplayReport) -> String {
        guard let first = start ?? report.first, let last = report.last, end > first else { return "" }
        let share = Double((last - first).microseconds) / Double((end - first).microseconds)
        return " (\(Int(min(max(share, 0), 1) * 100)) %)"
    }
}
