// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

extension Checker {
    private struct Generation: Hashable {
        let number: String
        let code: String
    }

    mutating func checkMessages() {
        let sends = Dictionary(grouping: history.sends) { Generation(number: $0.number, code: $0.code) }
        let calls = Dictionary(grouping: history.messages) { Generation(number: $0.number, code: $0.code) }
        let requests = Dictionary(history.requests.map { ($0.number, $0.id) }) { first, _ in first }
        let served = Set(history.sends.map(\.number))
        let refused = Set(history.requests.filter(\.isRefused).map(\.number))
        for (generation, calls) in calls {
            let request = requests[generation.number] ?? "of nobody"
            guard served.contains(generation.number), !refused.contains(generation.number) else {
                counts.refusedSends += calls.count
                report(.refusedStays, "the number of request \(request) got \(calls.count) messages without a send")
                continue
            }
            guard let sends = sends[generation] else {
                counts.secondCodes += 1
                report(.oneCode, "the number of request \(request) got a code of no generation of its verifications")
                continue
            }
            checkCount(calls.count(where: \.isAccepted), of: sends)
            checkTimes(calls, of: sends)
        }
        checkOutcomes(sends, calls)
    }

    private mutating func checkCount(_ accepted: Int, of sends: [History.Send]) {
        let surplus = max(0, accepted - sends.count)
        guard surplus > 0 else { return }
        counts.duplicateMessages += surplus
        let requests = Set(sends.map(\.request)).sorted().joined(separator: ", ")
        if !repeatsUnknown {
            report(.onceEach, "\(requests): \(accepted) messages for \(sends.count) sends")
        } else if surplus > sends.count(where: \.isRepeated) {
            report(.onceEach, "\(requests): \(surplus) messages too many, and fewer unknown outcomes")
        }
    }

    private mutating func checkTimes(_ calls: [History.Message], of sends: [History.Send]) {
        guard let deadline = sends.map(\.deadline).max() else { return }
        let late = calls.count { $0.time > deadline + slack }
        guard late > 0 else { return }
        counts.lateSends += late
        report(.inTime, "request \(sends[0].request): \(late) messages after the deadline")
    }

    /// Checks that the events of a send match the provider's record of it.
    private mutating func checkOutcomes(
        _ sends: [Generation: [History.Send]],
        _ calls: [Generation: [History.Message]]
    ) {
        for (generation, sends) in sends {
            let accepted = calls[generation]?.count(where: \.isAccepted) ?? 0
            let answers = sends.map { send in decisions[send.request]?.first?.status }
            let surely = answers.count { $0 == "sent" }
            if accepted < surely {
                report(
                    .toldOnce,
                    "request \(sends[0].request): \(surely) sends are told as sent, \(accepted) were taken"
                )
            }
            let possibly = answers.count { $0 == "sent" || $0 == "unknown" || $0 == nil }
            if accepted > 0, possibly == 0 {
                report(.toldOnce, "request \(sends[0].request): a message was taken and is told as \(answers[0] ?? "")")
            }
        }
    }
}
