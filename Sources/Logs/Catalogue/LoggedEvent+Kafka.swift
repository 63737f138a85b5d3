// SPDX-License-Identifier: Apache-2.0

import Formats
import Logging

extension LoggedEvent {
    package static let publishFailed = LoggedEvent(
        "publish.failed",
        .warning,
        "the broker did not accept records",
        [.records, .error, .reason, .broker, .topic, .partition],
        throttledBy: []
    )
    package static let publishRefused = LoggedEvent(
        "publish.refused",
        .error,
        "a topic accepts no records although brokers answer: retrying",
        [.topic, .partition, .reason, .error, .broker],
        again: OutageNotice.interval
    )
    package static let publishRecovered = LoggedEvent(
        "publish.recovered",
        .notice,
        "a topic accepts records again",
        [.topic]
    )

    /// The events of one consumer.
    package struct Consumer: Sendable {
        package let joining: LoggedEvent
        package let assigned: LoggedEvent
        package let revoked: LoggedEvent
        package let lost: LoggedEvent
        package let topicRecreated: LoggedEvent
        package let groupShared: LoggedEvent
        package let cannotRead: LoggedEvent
        package let readsAgain: LoggedEvent
        package let unreachable: LoggedEvent
        package let recovered: LoggedEvent
        package let failed: LoggedEvent
        package let notAssigned: LoggedEvent
        package let commitFailed: LoggedEvent
        package let recordsLost: LoggedEvent
        package let producerTimes: LoggedEvent

        package static let requests = Consumer("kafka")

        package static let receipts = Consumer("receipts")

        private init(_ area: String) {
            joining = LoggedEvent("\(area).joining", .info, "joining the group, which assigns partitions", [.group])
            assigned = LoggedEvent("\(area).assigned", .info, "partitions assigned", [.partitions])
            revoked = LoggedEvent("\(area).revoked", .info, "partitions revoked", [.partitions])
            lost = LoggedEvent("\(area).lost", .warning, "partitions lost: the group reassigned them", [.partitions])
            topicRecreated = LoggedEvent(
                "\(area).topic_recreated",
                .warning,
                "topic was deleted and recreated: reading from its first record",
                [.topic]
            )
            groupShared = LoggedEvent(
                "\(area).group_shared",
                .error,
                "other programs use this consumer group: set another kafka.groupId",
                [.group, .reason],
                again: .seconds(30)
            )
            cannotRead = LoggedEvent(
                "\(area).cannot_read",
                .error,
                "cannot read a topic although brokers answer: retrying",
                [.topic, .partition, .reason, .error, .broker]
            )
            readsAgain = LoggedEvent("\(area).reads_again", .notice, "a topic can be read again", [.topic])
            unreachable = LoggedEvent(
                "\(area).unreachable",
                .error,
                "no broker can be reached: retrying",
                [.reason, .broker, .error]
            )
            recovered = LoggedEvent("\(area).recovered", .notice, "a broker answers again")
            failed = LoggedEvent(
                "\(area).error",
                .warning,
                "the consumer reports an error",
                [.error, .reason, .broker, .topic, .partition],
                throttledBy: [.error, .reason]
            )
            notAssigned = LoggedEvent(
                "\(area).not_assigned",
                .info,
                "offsets not committed: their partitions moved to another member"
            )
            commitFailed = LoggedEvent(
                "\(area).commit_failed",
                .warning,
                "could not commit offsets: the next commit covers them",
                [.error, .reason, .broker, .topic, .partition],
                throttledBy: [.error]
            )
            recordsLost = LoggedEvent(
                "\(area).records_lost",
                .error,
                "records expired before they were read",
                [.topic, .partition, .offset, .lastOffset, .records]
            )
            producerTimes = LoggedEvent(
                "\(area).producer_times",
                .info,
                "records carry producers' times: set message.timestamp.type=LogAppendTime",
                [.topic]
            )
        }

        package var all: [LoggedEvent] {
            [
                joining, assigned, revoked, lost, topicRecreated, groupShared, cannotRead, readsAgain, unreachable,
                recovered, failed, notAssigned, commitFailed, recordsLost, producerTimes,
            ]
        }
    }
}
