// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import Testing
import Verification

/// Checks the rule of `docs/compatibility.md`: inputs and outputs of v1 stay valid for ever.
@Suite struct GoldenTests {
    @Test func `golden requests come to the same decisions, and keep their digests`() throws {
        let file = try GoldenFile("requests.json")
        let made = file.cases.map {
            $0.with("decision", Self.decision(on: $0.record(topic: "verification.requests")))
        }
        #expect(try file.texts(beside: made) == made)
    }

    @Test func `golden events are made byte for byte`() throws {
        let file = try GoldenFile("events.json", but: GoldenStory.superseded)
        let made = GoldenStory().cases
        let golden = try file.texts(beside: made)
        #expect(golden.count == made.count)
        for ((text, old), new) in zip(zip(golden, file.cases), made) {
            #expect(try text == Self.shaped(new, like: old), "\(old.string("name") ?? "")")
        }
    }

    @Test func `golden dead letters get the same headers, byte for byte`() throws {
        let file = try GoldenFile("dead-letters.json")
        #expect(file.cases.compactMap { $0.string("reason") } == DeadLetterReason.allCases.map(\.rawValue))
        let made = file.cases.map { golden in
            let record = golden.record(topic: "verification.requests")
            let reason = golden.string("reason").flatMap { DeadLetterReason(rawValue: $0) } ?? .notJSON
            let letter = OutboxRecord.deadLetter(record, reason: reason, at: .test)
            #expect(letter.key == record.key && letter.value == record.value)
            #expect(Array(letter.headers.prefix(record.headers.count)) == record.headers)
            return golden.with("added", Self.text(of: Array(letter.headers.dropFirst(record.headers.count))))
        }
        #expect(try file.texts(beside: made) == made)
    }

    /// A case without the fields that are younger than its golden one.
    private static func shaped(_ made: String, like golden: JSONObject) throws -> String {
        guard case .object(let object) = try JSONScanner.parse(Array(made.utf8)) else { return made }
        return object.without(GoldenStory.later, like: golden).compact
    }

    /// The decision on a request: its first send, the event that answers it, or the reason of its dead letter.
    private static func decision(on record: InboundRecord) -> String {
        var tables = DecisionTables { tenant in
            tenant.routes.email = ["mailer"]
            tenant.routes.push = ["push"]
        }
        let candidate = tables.candidate(record)
        if case .deadLetter(let reason) = candidate.content { return compactObject(["deadLetter": reason.rawValue]) }
        let changes = tables.intake([candidate])
        if let event = changes.events.first {
            return compactObject([
                "status": event.status, "reason": event.reason, "rule": event.rule, "field": event.text("field"),
                "digest": hexadecimal(candidate.digest.bytes),
            ])
        }
        let verification = changes.insertedVerifications.first
        return compactObject([
            "status": "send", "tenant": verification?.tenant, "channel": verification?.channel.rawValue,
            "purpose": verification?.purpose.rawValue, "subject": verification?.subject,
            "masked": verification?.masked, "fingerprint": verification.map { hexadecimal($0.fingerprint) },
            "deadline": changes.sends.first?.deadline.rfc3339, "traceparent": trace(of: candidate),
            "digest": hexadecimal(candidate.digest.bytes),
        ])
    }

    private static func trace(of candidate: Candidate) -> String? {
        guard case .request(let request, _) = candidate.content else { return nil }
        return request.trace?.traceparent
    }

    private static func text(of headers: [RecordField]) -> String {
        var writer = JSONWriter()
        writer.object { object in
            for header in headers {
                object.member(named: header.name, String(decoding: header.value ?? [], as: UTF8.self))
            }
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

extension JSONObject {
    /// The object without the members of these names that the other one, or the same object in it, lacks.
    fileprivate func without(_ names: Set<String>, like other: JSONObject) -> JSONObject {
        JSONObject(
            members: members.compactMap { member in
                if names.contains(member.name), other[member.name] == nil { return nil }
                guard case .object(let inner) = member.value, case .object(let otherInner)? = other[member.name] else {
                    return member
                }
                return JSONMember(name: member.name, value: .object(inner.without(names, like: otherInner)))
            }
        )
    }
}
