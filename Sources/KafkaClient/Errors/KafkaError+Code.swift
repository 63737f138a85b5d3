// SPDX-License-Identifier: Apache-2.0

import CLibrdkafka

extension KafkaError {
    /// A code of librdkafka (negative) or of the Kafka protocol (positive).
    package struct Code: RawRepresentable, Hashable, Sendable {
        package let rawValue: Int32

        package init(rawValue: Int32) {
            self.rawValue = rawValue
        }

        init(_ code: rd_kafka_resp_err_t) {
            rawValue = code.rawValue
        }

        package static let none = Code(RD_KAFKA_RESP_ERR_NO_ERROR)

        // Codes of librdkafka.
        package static let allBrokersDown = Code(RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN)
        package static let assignmentLost = Code(RD_KAFKA_RESP_ERR__ASSIGNMENT_LOST)
        static let assignPartitions = Code(RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS)
        static let revokePartitions = Code(RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS)
        package static let authentication = Code(RD_KAFKA_RESP_ERR__AUTHENTICATION)
        static let badMessage = Code(RD_KAFKA_RESP_ERR__BAD_MSG)
        package static let cancelled = Code(RD_KAFKA_RESP_ERR__INTR)
        package static let closed = Code(RD_KAFKA_RESP_ERR__DESTROY)
        package static let conflict = Code(RD_KAFKA_RESP_ERR__CONFLICT)
        package static let failure = Code(RD_KAFKA_RESP_ERR__FAIL)
        package static let fatal = Code(RD_KAFKA_RESP_ERR__FATAL)
        package static let invalidArgument = Code(RD_KAFKA_RESP_ERR__INVALID_ARG)
        package static let messageTimedOut = Code(RD_KAFKA_RESP_ERR__MSG_TIMED_OUT)
        package static let partitionEnd = Code(RD_KAFKA_RESP_ERR__PARTITION_EOF)
        package static let purged = Code(RD_KAFKA_RESP_ERR__PURGE_QUEUE)
        package static let queueFull = Code(RD_KAFKA_RESP_ERR__QUEUE_FULL)
        package static let resolve = Code(RD_KAFKA_RESP_ERR__RESOLVE)
        package static let ssl = Code(RD_KAFKA_RESP_ERR__SSL)
        package static let state = Code(RD_KAFKA_RESP_ERR__STATE)
        package static let timedOut = Code(RD_KAFKA_RESP_ERR__TIMED_OUT)
        package static let transport = Code(RD_KAFKA_RESP_ERR__TRANSPORT)
        package static let unknownPartition = Code(RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION)

        // Codes of the Kafka protocol.
        package static let coordinatorLoading = Code(RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS)
        package static let coordinatorNotAvailable = Code(RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE)
        package static let fencedInstance = Code(RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID)
        package static let illegalGeneration = Code(RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION)
        package static let leaderNotAvailable = Code(RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE)
        package static let messageTooLarge = Code(RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE)
        package static let networkException = Code(RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION)
        package static let notCoordinator = Code(RD_KAFKA_RESP_ERR_NOT_COORDINATOR)
        package static let notEnoughReplicas = Code(RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS)
        package static let notEnoughReplicasAfterAppend = Code(RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND)
        package static let notLeader = Code(RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION)
        package static let rebalanceInProgress = Code(RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS)
        package static let recordListTooLarge = Code(RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE)
        package static let requestTimedOut = Code(RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT)
        package static let storageError = Code(RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR)
        package static let topicAuthorizationFailed = Code(RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED)
        package static let unknownMember = Code(RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID)
        package static let unknownTopicOrPartition = Code(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)

        /// librdkafka's name of the code, as in `_TIMED_OUT`.
        package var name: String {
            // SAFETY: the answer is a static string of the library; an unknown code gives a text in thread-local
            // memory, copied before the thread does anything else.
            guard let name = unsafe rd_kafka_err2name(rd_kafka_resp_err_t(rawValue: rawValue)) else { return "UNKNOWN" }
            return unsafe String(cString: name)
        }

        /// True for errors that pass by themselves, such as an unreachable broker or a full queue.
        var isTransient: Bool { Self.transient.contains(self) }

        /// True for a broker's answers to a member that no longer owns the partition.
        var saysNotOwner: Bool { Self.ownership.contains(self) }

        /// True when permission for the group is missing.
        var isOfGroup: Bool { self == Code(RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED) }

        /// True when a broker, or the client before it, rejects a record as larger than the topic accepts.
        package var saysTooLarge: Bool { self == .messageTooLarge || self == .recordListTooLarge }

        private static let ownership: Set<Code> = [
            .assignmentLost, .fencedInstance, .illegalGeneration, .unknownMember,
        ]

        private static let transient: Set<Code> = [
            .allBrokersDown, .closed, .coordinatorLoading, .coordinatorNotAvailable, .leaderNotAvailable,
            .messageTimedOut, .networkException, .notCoordinator, .notEnoughReplicas, .notEnoughReplicasAfterAppend,
            .notLeader, .purged, .queueFull, .rebalanceInProgress, .requestTimedOut, .resolve, .timedOut, .transport,
            Code(RD_KAFKA_RESP_ERR__PURGE_INFLIGHT), Code(RD_KAFKA_RESP_ERR__WAIT_COORD),
        ]
    }
}
