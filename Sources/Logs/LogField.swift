// SPDX-License-Identifier: Apache-2.0

package import Formats

/// The names of all fields beside the time, severity, event and message of a line.
///
/// Names follow OpenTelemetry's where it has one. A published name keeps its meaning and its type.
package enum LogField: String, Sendable, CaseIterable {
    // Subjects of a line
    case verificationID = "verification.id"
    case requestID = "request.id"
    case sendID = "send.id"
    case tenant
    case channel
    case region
    case provider
    case recipient
    case status
    case reason
    case rule
    case outcome
    case errorCode = "error_code"
    case durationMilliseconds = "duration_ms"
    case pause = "pause_ms"
    case alternatives
    case traceID = "trace_id"
    case spanID = "span_id"

    // Places and counts
    case topic
    case partition
    case offset
    case lastOffset = "last_offset"
    case partitions
    case broker
    case group
    case stage
    case target
    case ageMilliseconds = "age_ms"

    // The toll-fraud brake
    case scope
    case brakeKey = "brake.key"
    case order
    case expected
    case observed
    case trips
    case until
    case isAsleep = "asleep"
    case probes
    case probesApproved = "probes_approved"
    case approvals
    case share
    case conversion
    case observations
    case budget
    case percent
    case spent
    case amount
    case overshoot
    case forecast
    case currency
    case period
    case mode
    case sends
    case maximum
    case records
    case sessions

    // The worker
    case version
    case librdkafka
    case fileDescriptors = "file_descriptors"
    case leadMilliseconds = "lead_ms"
    case signal
    case stalled
    case policyVersion = "policy_version"
    case previousVersion = "previous_version"
    case codeKeys = "code_keys"
    case hashKeys = "hash_keys"
    case sealKeys = "seal_keys"
    case codeKey = "code_key"
    case hashKey = "hash_key"
    case fault
    case variable
    case nearest
    case setting
    case server = "server.address"
    case error

    // The log itself
    case logEvent = "log.event"
    case suppressed
    case dropped
    case truncated

    // Figures of an interval
    case interval = "interval_ms"
    case uptime = "uptime_ms"
    case requests
    case repeats
    case decisions
    case unavailable
    case regions
    case providers
    case deadRoutes = "dead_routes"
    case rules
    case brake
    case feedback
    case spend
    case unreadHints = "unread_hints"
    case deadLetters = "dead_letters"
    case inFlight = "in_flight"
    case maxInFlight = "max_in_flight"
    case outbox
    case dueSends = "due_sends"
    case oldestSnapshot = "oldest_snapshot_ms"
    case lag
    case oldestUnread = "oldest_unread_ms"
    case topicFaults = "topic_faults"
    case latency = "latency_ms"
    case errors
    case residentBytes = "rss_bytes"
    case processorTime = "cpu_ms"
}

extension [LogField: LogValue] {
    /// The non-empty fields, with those of the line's trace.
    package func adding(_ trace: TraceContext?) -> Self {
        var fields = filter { $0.value != .text("") }
        guard let trace else { return fields }
        fields[.traceID] = .text(trace.traceID)
        fields[.spanID] = .text(trace.parentID)
        return fields
    }
}
