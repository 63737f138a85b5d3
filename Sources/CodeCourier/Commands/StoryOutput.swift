// SPDX-License-Identifier: Apache-2.0

import Administration
import Formats
import Verification

/// The story of a request, as lines for a person or one JSON object.
struct StoryOutput {
    var answer: RequestAnswer?
    var stories: [VerificationStory] = []
    private let subject: ShownSubject

    init(of subject: ShownSubject) {
        self.subject = subject
    }

    var isEmpty: Bool { answer == nil && stories.isEmpty }

    var lines: [String] {
        if isEmpty { return absence }
        var lines: [String] = []
        if let answer { lines += Self.lines(answer, stories.first) }
        for story in stories {
            if !lines.isEmpty { lines.append("") }
            lines += Self.lines(story)
        }
        if let answer, answer.verificationID == nil { lines += ["", "next: " + Self.advice(answer)] }
        return lines.map(\.printable)
    }

    private var absence: [String] {
        switch subject {
        case .recipient(let recipient):
            [
                "\(recipient.masked): no verification",
                "next: a request that was refused has only its request id; look for that. The fingerprint key must be"
                    + " the workers'.",
            ]
        case .id:
            [
                "no verification and no request with this id",
                "next: try --tenant; look for it in code-courier events tail --from-beginning and in code-courier"
                    + " dead-letters list. Request ids are kept for a day or two. Without any event the workers have"
                    + " not read it: code-courier health.",
            ]
        }
    }

    private static func lines(_ answer: RequestAnswer, _ story: VerificationStory?) -> [String] {
        var table = TextTable()
        if let status = answer.status {
            table.row("answer", [status, answer.reason].compactMap(\.self).joined(separator: " / "))
        }
        if let story, answer.status == DeliveryStatus.suppressed.rawValue {
            let other = story.sends.last?.requestID ?? story.requestID
            table.row("message", "none of its own: the code of request \(other) is good for it")
        }
        if let rule = answer.rule { table.row("rule", rule) }
        table.row("record", "partition \(answer.partition), offset \(answer.offset)")
        if let time = answer.recordTime { table.row("appended", time.rfc3339) }
        return ["request"] + table.lines
    }

    private static func lines(_ story: VerificationStory) -> [String] {
        var table = TextTable()
        let region = story.region.map { " (\($0))" } ?? ""
        table.row("to", "\(story.masked)\(region) by \(story.channel)\(story.isFictional ? ", a test number" : "")")
        table.row("for", "\(story.purpose), tenant \(story.tenant)")
        table.row("request", story.requestID)
        table.row("state", state(story))
        table.row("event", event(story))
        if story.state == "live", !story.isSendOpen, story.sendsUsed < story.maxSends {
            table.row("resend", story.resendAfter <= story.readAt ? "now" : "from \(story.resendAfter.rfc3339)")
        }
        table.row("policy", story.policyVersion)
        let lines = ["verification \(story.id)"] + table.lines + messages(story)
        return lines + ["next: " + StoryAdvice(story).text]
    }

    private static func state(_ story: VerificationStory) -> String {
        let used = "\(story.checksUsed) of \(story.maxChecks) guesses, \(story.sendsUsed) of \(story.maxSends) messages"
        let end = story.endedAt ?? story.expiresAt
        return switch story.state {
        case "live": "\(end > story.readAt ? "live until" : "ended at") \(end.rfc3339), \(used)"
        default: "\(story.state) at \(end.rfc3339), \(used)"
        }
    }

    private static func event(_ story: VerificationStory) -> String {
        guard let status = story.status else { return "none yet" }
        let words = [status, story.reason].compactMap(\.self).joined(separator: " / ")
        let waiting = story.unpublished > 0 ? "; \(story.unpublished) not known to be published" : ""
        return "\(words), sequence \(story.sequence)\(waiting)"
    }

    private static func messages(_ story: VerificationStory) -> [String] {
        if story.sends.isEmpty { return ["messages: none"] }
        var table = TextTable(numbers: [0])
        for send in story.sends {
            let size = send.segments.map { "\($0) segment\($0 == 1 ? "" : "s")" } ?? ""
            table.row(
                "\(send.number)",
                send.id.version7Time?.rfc3339 ?? "",
                send.state,
                send.provider ?? "-",
                send.providerMessageID ?? send.errorCode ?? "-",
                "\(send.attempts) attempt\(send.attempts == 1 ? "" : "s")",
                size
            )
        }
        return ["messages"] + table.lines
    }

    private static func advice(_ answer: RequestAnswer) -> String {
        let page = answer.status.map { "docs/reasons.md#\($0)" } ?? "docs/reasons.md"
        guard let rule = answer.rule else { return "a worker has the request; look again in a few seconds." }
        return "the rule \(rule) answered the request, and no message was sent; \(page) says what to do."
    }

    var json: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            if let answer {
                writer.object("request") { request in
                    request.member("verificationId", ifPresent: answer.verificationID?.description)
                    request.member("status", ifPresent: answer.status)
                    request.member("reason", ifPresent: answer.reason)
                    request.member("rule", ifPresent: answer.rule)
                    request.member("partition", Int64(answer.partition))
                    request.member("offset", answer.offset)
                    request.member("recordTime", ifPresent: answer.recordTime?.rfc3339)
                }
            }
            writer.array("verifications") { array in
                for story in stories { array.object { Self.write(story, &$0) } }
            }
        }
        return writer.bytes
    }

    private static func write(_ story: VerificationStory, _ writer: inout JSONWriter) {
        writer.member("verificationId", story.id.description)
        writer.member("requestId", story.requestID)
        writer.member("tenant", story.tenant)
        writer.member("purpose", story.purpose)
        writer.member("channel", story.channel)
        writer.member("region", ifPresent: story.region)
        writer.member("masked", story.masked)
        writer.member("testNumber", story.isFictional)
        writer.member("policyVersion", story.policyVersion)
        writer.member("state", story.state)
        writer.member("status", ifPresent: story.status)
        writer.member("reason", ifPresent: story.reason)
        writer.member("sequence", Int64(story.sequence))
        writer.member("unpublished", story.unpublished)
        writer.member("checksUsed", Int64(story.checksUsed))
        writer.member("maxChecks", Int64(story.maxChecks))
        writer.member("sendsUsed", Int64(story.sendsUsed))
        writer.member("maxSends", Int64(story.maxSends))
        writer.member("resendAfter", story.resendAfter.rfc3339)
        writer.member("expiresAt", story.expiresAt.rfc3339)
        writer.member("endedAt", ifPresent: story.endedAt?.rfc3339)
        writer.array("sends") { array in
            for send in story.sends { array.object { write(send, &$0) } }
        }
        writer.member("next", StoryAdvice(story).text)
    }

    private static func write(_ send: VerificationStory.Send, _ writer: inout JSONWriter) {
        writer.member("id", send.id.description)
        writer.member("number", Int64(send.number))
        writer.member("requestId", send.requestID)
        writer.member("state", send.state)
        writer.member("attempts", Int64(send.attempts))
        writer.member("provider", ifPresent: send.provider)
        writer.member("providerMessageId", ifPresent: send.providerMessageID)
        writer.member("errorCode", ifPresent: send.errorCode)
        writer.array("refusedBy") { array in
            for provider in send.refusedBy { array.element(provider) }
        }
        writer.member("repeated", send.isRepeated)
        writer.member("leaseUntil", ifPresent: send.leaseUntil?.rfc3339)
    }
}

/// The sentence that says what to do about a verification.
struct StoryAdvice {
    private let story: VerificationStory

    init(_ story: VerificationStory) {
        self.story = story
    }

    var text: String {
        switch story.state {
        case "approved": return "nothing: the code was right."
        case "cancelled": return "a new request; this verification was erased or replaced."
        case "locked": return "a new request after \(story.expiresAt.rfc3339): too many wrong guesses."
        default: break
        }
        if story.isFictional { return "the test number's fixed code is in the policy; no message is sent." }
        guard let last = story.sends.last else { return "a new request." }
        return advice(last)
    }

    private func advice(_ send: VerificationStory.Send) -> String {
        let provider = send.provider ?? "the provider"
        let isOver = story.state != "live" || story.expiresAt <= story.readAt
        switch send.state {
        case "pending", "claimed", "dispatching":
            guard let lease = send.leaseUntil, lease > story.readAt else {
                return "the message is due and no worker has it: code-courier health, and LagGrowing in"
                    + " docs/operators.md."
            }
            return "wait: a worker has the message until \(lease.rfc3339)."
        case "sent":
            let id = send.providerMessageID.map { "ask \(provider) for \($0)" } ?? "ask \(provider)"
            return "\(provider) has the message and reported no delivery: \(id)." + (isOver ? " A new request." : "")
        case "delivered": return "\(provider) says that it was delivered: the person looks at the device, or asks anew."
        case "undelivered": return "\(provider) could not deliver it: another number, or another way."
        case "unknown": return "nobody knows whether it left; a receipt of \(provider) settles it. A new request."
        default: return "nothing was sent: \(story.reason ?? "failed") in docs/reasons.md says what to do."
        }
    }
}
