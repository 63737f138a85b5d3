// SPDX-License-Identifier: Apache-2.0

extension LogField {
    /// The type of the values in JSON.
    package var type: String {
        switch self {
        case .durationMilliseconds: "number"
        case .partition, .offset, .lastOffset, .sends, .records, .sessions, .suppressed, .dropped, .interval, .uptime,
            .requests, .repeats, .leadMilliseconds, .fileDescriptors, .ageMilliseconds, .oldestSnapshot, .oldestUnread,
            .deadLetters, .inFlight,
            .maxInFlight, .outbox, .dueSends, .residentBytes, .processorTime:
            "integer"
        case .truncated: "boolean"
        case .decisions, .regions, .providers, .rules, .unreadHints, .lag, .topicFaults, .latency, .errors: "object"
        default: "string"
        }
    }

    package var explanation: String {
        switch self {
        case .verificationID: "the verification, as in delivery events"
        case .requestID: "the gateway's own id of the request"
        case .sendID: "the send, which is the reference given to the provider"
        case .tenant: "the tenant of the request"
        case .channel: "`sms`, `email` or `apns`"
        case .region: "the CLDR code of a phone number's region, `XX` when unknown"
        case .provider: "the provider's name in the configuration"
        case .recipient: "the recipient, masked"
        case .status: "the delivery event's status"
        case .reason: "the delivery event's or the dead letter's reason; of Kafka's errors the cause, a fixed word"
        case .rule: "the rule that decided"
        case .outcome: "the outcome that a provider's answer means"
        case .errorCode: "the provider's own code or a constant of ours, never its text"
        case .durationMilliseconds: "how long it took; of an event, since the request's record was appended"
        case .traceID: "the W3C trace id of the request's `traceparent`"
        case .spanID: "the span that made the request"
        case .topic: "the topic of a record"
        case .partition: "the partition of a record"
        case .offset: "the offset of a record, or the first of several"
        case .lastOffset: "the offset of the last of several records"
        case .partitions: "the numbers of partitions, with commas between"
        case .broker: "the broker as `host:port`"
        case .group: "the consumer group"
        case .target: "where the health state goes: `health_file` or `systemd`"
        case .stage:
            """
            the pipeline's stage: `intake`, `receipts`, `dispatch`, `record`, `forget`, `catch_up`, `takeover`, `sweep`
            """
        case .ageMilliseconds: "milliseconds since all daily partitions were in order"
        case .sends: "how many sends"
        case .sessions: "how many sessions of the database"
        case .records: "how many records"
        case .workerID: "the worker: its host and process number"
        case .version: "the version of code-courier"
        case .librdkafka: "the version of librdkafka in use"
        case .fileDescriptors: "how many files and connections the worker may have open"
        case .leadMilliseconds:
            "how far the worker's clock is surely ahead of the database's in milliseconds, negative when it is behind"
        case .signal: "the signal that was received"
        case .stalled: "the parts that stand still, with commas between"
        case .policyVersion: "the version of the policy in force"
        case .previousVersion: "the version of the policy that was in force before"
        case .codeKeys: "the ids of `keys.code`, the one that makes new codes first"
        case .hashKeys: "the ids of `keys.hash`, the one that makes new hashes first"
        case .sealKeys: "the ids of `keys.seal`, the one that seals first"
        case .codeKey: "the id in `keys.code` of the key that a code is derived from"
        case .hashKey: "the id in `keys.hash` of the key that a code was hashed with"
        case .fault: "one fault of a file: its place, its key and what is wrong"
        case .variable: "the name of an environment variable"
        case .setting: "the key of the configuration"
        case .server: "the host of the database"
        case .nearest: "the variable of a key that is most likely meant"
        case .error: "codes and names: librdkafka's code, or PostgreSQL's SQLSTATE, table and constraint"
        case .logEvent: "the event of which lines were not written"
        case .suppressed: "how many lines were not written because too many were alike"
        case .dropped: "how many lines were lost"
        case .truncated: "the line was too long and lacks fields"
        case .interval: "the length of the interval in milliseconds; counts are of the interval"
        case .uptime: "milliseconds since the worker started"
        case .requests: "records of the requests' topic that were decided"
        case .repeats: "published delivery events that told an earlier decision once more (`duplicate_request`)"
        case .decisions: "published delivery events by status, without repeats"
        case .regions: "published delivery events by region and status, without repeats; beyond the 30 busiest, `other`"
        case .providers: "answers by provider and outcome, with `breaker` (`closed`, `open`, `half_open`) and `score`"
        case .rules: "refused requests by reason"
        case .unreadHints: "hints that could not be read and were left out, by field"
        case .deadLetters: "published dead letters"
        case .inFlight: "sends that the worker holds now"
        case .maxInFlight: "sends that it may hold"
        case .outbox:
            """
            records of the fleet that wait to be published; 10,000 of a database stand for more; \
            absent like `due_sends`
            """
        case .dueSends:
            """
            sends of the fleet that are due; 10,000 of a database stand for more; \
            absent while the database is away and in the last line
            """
        case .oldestSnapshot:
            """
            for how long the oldest snapshot of the database has stood, as far as this worker has seen it: \
            what was deleted since is still there; absent like `due_sends`
            """
        case .lag:
            """
            records not read yet, by partition of the requests' topic that the worker owns; \
            the 128 furthest behind
            """
        case .oldestUnread:
            """
            milliseconds since the oldest record was appended that the worker has not read, of all partitions that it \
            owns; where the record is not at hand, since it is known to be there; absent where `lag` is empty
            """
        case .topicFaults: "topics that cannot be used though brokers answer: `publish` or `read`, the topic, and why"
        case .latency: "milliseconds `p50`, `p90`, `p99` and `max` of `count` durations by way: \(Self.ways)"
        case .errors: "failures that are tried again, of `postgres` and `kafka`"
        case .residentBytes: "memory in use"
        case .processorTime: "processor time used in the interval, in milliseconds"
        }
    }

    private static let ways = """
        `intake` (a batch read until durable), `queue` (appended until decided), `dispatch` (claimed until called), \
        `provider` (one call), `record` (outcomes written), `publish` (events produced), `request_to_provider` and \
        `request_to_event` (appended until called, and until the event is acknowledged)
        """
}
