// SPDX-License-Identifier: Apache-2.0

import CLibrdkafka

extension KafkaError {
    /// The cause of an error as a fixed word that logs and commands may show: librdkafka's own text may quote anything.
    package enum Reason: String, Sendable, CaseIterable {
        case authenticationFailed = "authentication_failed"
        case brokersAway = "brokers_away"
        case certificateExpired = "certificate_expired"
        case certificateNotYetValid = "certificate_not_yet_valid"
        case certificateRevoked = "certificate_revoked"
        case certificateUntrusted = "certificate_untrusted"
        case clientCertificateRefused = "client_certificate_refused"
        case clientCertificateRequired = "client_certificate_required"
        case connectionLost = "connection_lost"
        case connectionRefused = "connection_refused"
        case coordinatorMissing = "coordinator_missing"
        case groupConflict = "group_conflict"
        case hostNameMismatch = "host_name_mismatch"
        case leaderMissing = "leader_missing"
        case mechanismUnsupported = "mechanism_unsupported"
        case membershipLost = "membership_lost"
        case messageTooLarge = "message_too_large"
        case nameUnresolved = "name_unresolved"
        case networkUnreachable = "network_unreachable"
        case notAuthorized = "not_authorized"
        case protocolMismatch = "protocol_mismatch"
        case recordRefused = "record_refused"
        case sessionRefused = "session_refused"
        case storageError = "storage_error"
        case throttled
        case timedOut = "timed_out"
        case tlsFailed = "tls_failed"
        case tooFewInSync = "too_few_in_sync"
        case topicMissing = "topic_missing"
        case unsupported
        case other

        /// The cause as words for a sentence.
        package var words: String { rawValue.replacing("_", with: " ") }

        /// True when the topic, or a permission for it, is the cause, while brokers answer.
        package var isOfTopic: Bool { Self.ofTopics.contains(self) }

        /// True when it says only that no answer arrived, so that a connection fault is a better explanation.
        var isVague: Bool { Self.vague.contains(self) }

        private static let ofTopics: Set<Reason> = [
            .leaderMissing, .notAuthorized, .recordRefused, .storageError, .tooFewInSync, .topicMissing,
        ]

        private static let vague: Set<Reason> = [.brokersAway, .connectionLost, .timedOut, .tlsFailed, .other]
    }
}

extension KafkaError.Reason {
    /// Makes the cause that a code alone implies.
    init(_ code: KafkaError.Code) {
        self = Self.byCode[code.rawValue] ?? .other
    }

    private static let byCode: [Int32: Self] = {
        let codes: KeyValuePairs<Self, [rd_kafka_resp_err_t]> = [
            .authenticationFailed: [
                RD_KAFKA_RESP_ERR__AUTHENTICATION, RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED,
                RD_KAFKA_RESP_ERR_ILLEGAL_SASL_STATE,
            ],
            .brokersAway: [RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE],
            .connectionLost: [RD_KAFKA_RESP_ERR__TRANSPORT, RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION],
            .coordinatorMissing: [
                RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS, RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE,
                RD_KAFKA_RESP_ERR_NOT_COORDINATOR, RD_KAFKA_RESP_ERR__WAIT_COORD,
            ],
            .groupConflict: [
                RD_KAFKA_RESP_ERR_INCONSISTENT_GROUP_PROTOCOL, RD_KAFKA_RESP_ERR_GROUP_ID_NOT_FOUND,
                RD_KAFKA_RESP_ERR_NON_EMPTY_GROUP,
            ],
            .leaderMissing: [
                RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE, RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
                RD_KAFKA_RESP_ERR_REPLICA_NOT_AVAILABLE, RD_KAFKA_RESP_ERR_FENCED_LEADER_EPOCH,
                RD_KAFKA_RESP_ERR_UNKNOWN_LEADER_EPOCH,
            ],
            .mechanismUnsupported: [RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM],
            .membershipLost: [
                RD_KAFKA_RESP_ERR__ASSIGNMENT_LOST, RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID,
                RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION, RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID,
                RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS, RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED,
            ],
            .messageTooLarge: [RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE],
            .nameUnresolved: [RD_KAFKA_RESP_ERR__RESOLVE],
            .notAuthorized: [
                RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED,
                RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
                RD_KAFKA_RESP_ERR_DELEGATION_TOKEN_AUTHORIZATION_FAILED,
            ],
            .recordRefused: [
                RD_KAFKA_RESP_ERR_POLICY_VIOLATION, RD_KAFKA_RESP_ERR_INVALID_RECORD,
                RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP, RD_KAFKA_RESP_ERR_INVALID_MSG, RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE,
                RD_KAFKA_RESP_ERR_UNSUPPORTED_COMPRESSION_TYPE,
            ],
            .sessionRefused: [RD_KAFKA_RESP_ERR_INVALID_SESSION_TIMEOUT],
            .storageError: [RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR, RD_KAFKA_RESP_ERR_LOG_DIR_NOT_FOUND],
            .throttled: [RD_KAFKA_RESP_ERR_THROTTLING_QUOTA_EXCEEDED],
            .timedOut: [
                RD_KAFKA_RESP_ERR__TIMED_OUT, RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE, RD_KAFKA_RESP_ERR__MSG_TIMED_OUT,
                RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT,
            ],
            .tlsFailed: [RD_KAFKA_RESP_ERR__SSL],
            .tooFewInSync: [RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND],
            .topicMissing: [
                RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC,
                RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION, RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION,
            ],
            .unsupported: [RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE, RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION],
        ]
        return Dictionary(codes.flatMap { reason, codes in codes.map { ($0.rawValue, reason) } }) { first, _ in first }
    }()
}
