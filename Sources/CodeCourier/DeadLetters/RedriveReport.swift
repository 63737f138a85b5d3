// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

/// The final report of a redrive.
struct RedriveReport {
    let plan: RedrivePlan

    /// The outcome; nil for a dry run.
    let outcome: Redrive.Outcome?
    let topics: KafkaSettings.Topics

    /// True when everything requested was redriven, or would be in a dry run.
    var isComplete: Bool {
        plan.missing.isEmpty && plan.refused.isEmpty && plan.shortenedCount == 0
            && (outcome.map { $0.sentCount == plan.count } ?? true)
    }

    var lines: [String] {
        var lines: [String] = []
        if let outcome {
            lines += outcome.sent.sorted { $0.key < $1.key }.map { "\($1.grouped) are back on \($0)" }
            lines += rest(outcome)
        } else {
            lines += plan.counts.map { "\($0.count.grouped) would go back to \($0.topic)" }
        }
        lines += plan.refused.map { topic, count in
            "\(count.grouped) refused: they came from \(topic), and only \(topics.requests) and \(topics.receipts) get"
                + " records back"
        }
        if plan.shortenedCount > 0 {
            lines.append(
                "\(plan.shortenedCount.grouped) refused: only their beginnings are here, since no broker took them"
                    + " whole; dead-letters list tells where they came from"
            )
        }
        lines += plan.missing.sorted().map { "not found: \($0)" }
        return lines.isEmpty ? ["no dead letters"] : lines
    }

    private func rest(_ outcome: Redrive.Outcome) -> [String] {
        let left = plan.count - outcome.sentCount
        guard left > 0 else { return [] }
        if let failure = outcome.failure { return ["\(left.grouped) are not back: \(failure)"] }
        return ["\(left.grouped) are not back" + (outcome.isInterrupted ? ": interrupted" : ": they are gone")]
    }
}
