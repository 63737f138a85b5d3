// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Verification

/// A worker's state at one check, as stored in its health file; it contains nothing of any request.
struct WorkerState: Sendable, Equatable, Codable {
    /// A precondition of processing requests, for which a worker may have to wait.
    enum Need: String, Sendable, Codable {
        /// Membership in the consumer group, even without partitions.
        case kafka

        case postgres

        /// A clock within a minute of the database's.
        case clock
    }

    /// The time of the check, for people.
    var time: String

    /// The time of the check on the monotonic clock, which nobody can set.
    var clock: MonotonicTime
    var process: Int32
    var policyVersion: String

    /// The number of checks, one a second, for which each working part has made no progress.
    var standing: [String: Int]

    /// The number of checks after which a part is late, well below the limit at which the watchdog ends the worker.
    var maxWait: Int
    var waitingFor: [Need]

    /// Topics that cannot be used although brokers answer, one sentence each; nil in the state of an older worker.
    var topicFaults: [String]?

    /// The providers of routes on which none accepts messages, with error codes; nil in the state of an older worker.
    ///
    /// The worker stays ready: only a message can show that a provider is back.
    var deadProviders: [String]?
    var isStopping: Bool

    /// True when no need is missing and every topic is usable; a restart would not help with either.
    var hasAllNeeds: Bool { waitingFor.isEmpty && topicFaults?.isEmpty ?? true }

    /// The parts without progress for `maxWait` checks or more.
    var late: [String] { standing.filter { $0.value >= maxWait }.keys.sorted() }

    /// The state in one sentence.
    var summary: String {
        if !late.isEmpty { return "\(late.joined(separator: ", ")) made no progress for \(maxWait) s or longer" }
        if isStopping { return "stopping" }
        let waiting = waitingFor.isEmpty ? [] : ["waiting for \(waitingFor.map(\.rawValue).joined(separator: ", "))"]
        let troubles = (topicFaults ?? []) + waiting
        guard troubles.isEmpty else { return troubles.joined(separator: ", ") }
        let dead = deadProviders ?? []
        return dead.isEmpty
            ? "at work, policy \(policyVersion)" : "at work, no provider accepts: \(dead.joined(separator: ", "))"
    }
}

extension WorkerState {
    init?(json: some Sequence<UInt8>) {
        guard let state = try? JSONDecoder().decode(WorkerState.self, from: Data(json)) else { return nil }
        self = state
    }

    func json() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(self)) + [UInt8(ascii: "\n")]
    }
}
