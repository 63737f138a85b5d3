// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Verification

/// What a worker knows of itself at one look, as its health file holds it: nothing of any request.
struct WorkerState: Sendable, Equatable, Codable {
    /// What a worker needs to do its work, and may have to wait for.
    enum Need: String, Sendable, Codable {
        /// A share of the partitions, be it none.
        case kafka

        case postgres

        /// A clock that is right, within a minute of the database's.
        case clock
    }

    /// The time of the look, for people.
    var time: String

    /// The time of the look by the machine's clock, which nobody sets.
    var clock: MonotonicTime
    var process: Int32
    var policyVersion: String

    /// For how many looks, one a second, each part at work has not got on.
    var standing: [String: Int]

    /// From so many looks on a part is late: well before the worker's own watchdog ends it.
    var patience: Int
    var waitingFor: [Need]

    /// Topics that cannot be used though brokers answer, a sentence each; nil in what an older worker wrote.
    var topicFaults: [String]?
    var isStopping: Bool

    /// Whether nothing is missing that a new start would not bring.
    var hasAllNeeds: Bool { waitingFor.isEmpty && topicFaults?.isEmpty ?? true }

    /// The parts that should have got on by now.
    var late: [String] { standing.filter { $0.value >= patience }.keys.sorted() }

    /// What there is to say of it in one sentence.
    var summary: String {
        if !late.isEmpty { return "\(late.joined(separator: ", ")) did not get on for \(patience) s or longer" }
        if isStopping { return "stopping" }
        let waiting = waitingFor.isEmpty ? [] : ["waiting for \(waitingFor.map(\.rawValue).joined(separator: ", "))"]
        let troubles = (topicFaults ?? []) + waiting
        return troubles.isEmpty ? "at work, policy \(policyVersion)" : troubles.joined(separator: ", ")
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
