// SPDX-License-Identifier: Apache-2.0

extension LogField {
    /// The type of the values in JSON.
    package var type: String {
        switch self {
        case .durationMilliseconds: "number"
        case .partition, .offset, .lastOffset, .sends, .records, .sessions, .suppressed, .dropped, .interval, .uptime,
            .requests, .repeats, .unavailable, .deadRoutes, .pause, .alternatives, .leadMilliseconds, .fileDescriptors,
            .ageMilliseconds, .oldestSnapshot, .oldestUnread, .expected, .observed, .trips, .probes, .probesApproved,
            .approvals, .percent, .share, .conversion, .observations,
            .deadLetters, .inFlight,
            .maxInFlight, .outbox, .dueSends, .residentBytes, .processorTime:
            "integer"
        case .truncated, .isAsleep: "boolean"
        case .decisions, .regions, .providers, .rules, .brake, .spend, .feedback, .unreadHints, .lag, .topicFaults,
            .latency,
            .errors:
            "object"
        default: "string"
        }
    }

    /// True for a field whose name is clear, so that the page does not explain it.
    var isObvious: Bool {
        switch self {
        case .verificationID, .tenant, .channel, .recipient, .status, .rule, .traceID, .spanID, .topic, .partition,
            .lastOffset, .broker, .group, .observed, .currency, .sends, .records, .sessions, .version, .librdkafka,
            .fileDescriptors, .signal, .policyVersion, .previousVersion, .codeKey, .hashKey, .variable, .nearest,
            .setting, .logEvent, .suppressed, .dropped:
            true
        default: false
        }
    }

    package var explanation: String {
        switch self {
        case .verificationID: "as in delivery events"
        case .requestID: "the gateway's idempotency key"
        case .sendID: "send; its reference at the provider"
        case .tenant: "request's tenant"
        case .channel: "`sms`, `email` or `apns`"
        case .region: "CLDR code of the number's region, or `XX`"
        case .provider: "provider's name in the configuration"
        case .recipient: "masked recipient"
        case .status: "delivery event's status"
        case .reason: "reason of the event or dead letter; a fixed word for Kafka errors"
        case .rule: "rule that decided"
        case .outcome: "outcome that the provider's answer means"
        case .errorCode: "provider's code or a constant, never a text"
        case .durationMilliseconds: "duration; for an event, since the request was appended"
        case .pause: "time until a message may probe the provider"
        case .alternatives: "providers that still accept messages, on the provider's route that has the fewest"
        case .traceID: "W3C trace id of the request"
        case .spanID: "span that made the request"
        case .topic: "record's topic"
        case .partition: "record's partition"
        case .offset: "offset of the record, or the first of several"
        case .lastOffset: "last of several"
        case .partitions: "partition numbers, comma-separated"
        case .broker: "`host:port`"
        case .group: "consumer group"
        case .target: "`health_file` or `systemd`"
        case .stage:
            """
            `intake`, `receipts`, `dispatch`, `record`, `forget`, `catch_up`, `takeover`, \
            `sweep`, `conversions`, `brake` or `routes`
            """
        case .ageMilliseconds: "time since all daily partitions were in order"
        case .scope: "`ip`, `prefix`, `range` or `region`"
        case .brakeKey: "first 8 digits of the scope's key; of a region, its name"
        case .order: "`allow` or `launch`"
        case .expected: "approvals that are usual by now"
        case .observed: "approvals"
        case .trips: "blocks of the scope, each within a day of the one before"
        case .until: "end of the block or silence, or the time when the budget has money again, in RFC 3339"
        case .isAsleep: "true while the tenant's blocks refuse nobody"
        case .probes: "messages that left while the scope was half open"
        case .probesApproved: "approvals among them"
        case .approvals: "approvals of the last 24 hours"
        case .share: "percentage of the region's messages"
        case .conversion: "percentage of first messages whose codes are approved, estimated"
        case .observations: "first messages that the estimate rests on, each by its age"
        case .budget: "name of the budget in the policy"
        case .percent: "percentage of `warnAt` that was reached"
        case .spent: "money leased in the budget's window, most of it spent"
        case .amount: "the budget's amount, or an operator's in its place"
        case .overshoot: "money leased before the amount was lowered below it"
        case .forecast: "time at which the budget will be used up, RFC 3339; absent if it will not be"
        case .currency: "currency in ISO 4217"
        case .period: "`hour`, `day` or `month`"
        case .mode: "`enforce` or `record`"
        case .sends: "number of sends"
        case .maximum: "number of sends after which the launch is over"
        case .sessions: "number of database sessions"
        case .records: "number of records"
        case .version: "code-courier's version"
        case .librdkafka: "librdkafka's version"
        case .fileDescriptors: "limit of open files and connections"
        case .leadMilliseconds: "minimum lead of the worker's clock over the database's; negative if behind"
        case .signal: "received signal"
        case .stalled: "stalled parts, comma-separated"
        case .policyVersion: "policy version in force"
        case .previousVersion: "policy version before"
        case .codeKeys: "ids of `keys.code`, active first"
        case .hashKeys: "ids of `keys.hash`, active first"
        case .sealKeys: "ids of `keys.seal`, active first"
        case .codeKey: "id of the code's key in `keys.code`"
        case .hashKey: "id of the hash's key in `keys.hash`"
        case .fault: "one fault of a file: place, key, problem"
        case .variable: "environment variable"
        case .setting: "configuration key"
        case .server: "database host"
        case .nearest: "variable that is probably meant"
        case .error: "librdkafka's code, or PostgreSQL's SQLSTATE, table and constraint"
        case .logEvent: "event whose lines were left out"
        case .suppressed: "number of lines left out"
        case .dropped: "number of lost lines"
        case .truncated: "the line was too long and lacks fields"
        case .interval: "interval that the counts cover"
        case .uptime: "time since the start"
        case .requests: "decided records of the requests topic"
        case .repeats: "published events that repeat a decision (`duplicate_request`)"
        case .decisions: "published events by status, without repeats"
        case .unavailable: "of `failed`, those for which no provider was available"
        case .regions: "published events by region and status, without repeats; past the 30 busiest, `other`"
        case .providers:
            """
            answers by provider and outcome, with `breaker` (`closed`, `open`, `half_open`) and `score`, \
            0 unless closed
            """
        case .deadRoutes: "routes of the policy on which no provider accepts messages, open and half-open ones alike"
        case .rules: "rejected requests by reason"
        case .feedback:
            """
            reports to providers with `feedback` of messages whose codes were approved: `confirmed`, `failed`, or `dropped` \
            unsent
            """
        case .brake:
            """
            scopes that the toll-fraud brake has `blocked` or `half_open`, and requests that it `refused` or, without \
            enforcing, `recorded`; `reader_lag_ms` is the age of the youngest verification that the brake has judged
            """
        case .spend:
            """
            money of published `sent` events, by currency: `amount`, `regions` (past the 30 greatest, `other`), and by \
            tenant and name `budgets`, for messages that the worker decided; texts such as `1.25`
            """
        case .unreadHints: "unreadable hints by field"
        case .deadLetters: "published dead letters"
        case .inFlight: "sends in flight"
        case .maxInFlight: "limit of sends in flight"
        case .outbox: "the fleet's unpublished records, a minimum from 10,000 up; absent like `due_sends`"
        case .dueSends:
            """
            the fleet's due sends, a minimum from 10,000 up; absent in a database outage and in the last line
            """
        case .oldestSnapshot:
            """
            how long this worker has seen the database's oldest snapshot, which keeps rows deleted since; \
            absent like `due_sends`
            """
        case .lag: "unread records by assigned partition of the requests topic; the 128 furthest behind"
        case .oldestUnread:
            """
            age of the oldest unread record of the assigned partitions; if not fetched, time since it is known; \
            absent while `lag` is empty
            """
        case .topicFaults: "topics that fail while brokers answer: `publish` or `read`, topic and reason"
        case .latency: "`p50`, `p90`, `p99`, `max` and `count` of durations: \(Self.ways)"
        case .errors: "retried failures of `postgres` and `kafka`"
        case .residentBytes: "memory in use"
        case .processorTime: "processor time in the interval"
        }
    }

    private static let ways = """
        `intake` (batch read until durable), `queue` (appended until decided), `dispatch` (claimed until called), \
        `provider` (one call), `record` (outcomes written), `publish` (events produced), `request_to_provider` \
        (appended until called), `request_to_event` (appended until acknowledged)
        """
}
