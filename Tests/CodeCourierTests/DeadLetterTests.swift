// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Formats
import KafkaClient
import TestSupport
import Testing
import Verification

@testable import CodeCourier

@Suite("dead letters") struct DeadLetterTests {
    private let own = [
        RecordHeader(name: "ce_id", value: [0xff]), RecordHeader(name: "empty", value: nil),
        RecordHeader(name: "ce_id", value: []),
    ]

    @Test func `a redriven record is as it was, with its time and where it has been`() throws {
        let record = DeadLetterSample.record("{", partition: 2, offset: 41, headers: own)
        let letter = try #require(DeadLetterSample.letter(record))
        #expect(letter.reason == "not_json")
        #expect((letter.topic, letter.partition, letter.offset) == ("requests", 2, 41))
        let redriven = letter.redriven(partitions: 3)
        #expect(redriven.topic == "requests")
        #expect(redriven.key == Array("key".utf8))
        #expect(redriven.value == Array("{".utf8))
        #expect(redriven.timestamp == Timestamp.test.microseconds / 1000)
        #expect(redriven.partition == 2)
        #expect(Array(redriven.headers.prefix(3)) == own)
        #expect(redriven.headers.dropFirst(3).map(\.name) == Self.ofRedrive)
        let made = String(Timestamp.test.microseconds / 1000)
        #expect(redriven.headers.suffix(2).map(\.value) == [Array("1".utf8), Array(made.utf8)])
        #expect(letter.redriven(partitions: 2).partition == nil)
    }

    @Test func `a record without a time gets that of its death, and a tombstone stays one`() throws {
        let letter = try #require(DeadLetterSample.letter(DeadLetterSample.record(nil, made: nil)))
        #expect(letter.redriven(partitions: 1).timestamp == (Timestamp.test + .seconds(1)).microseconds / 1000)
        #expect(letter.redriven(partitions: 1).value == nil)
    }

    @Test func `a record that died again keeps its first id and its time, and counts`() throws {
        let first = try #require(DeadLetterSample.letter(DeadLetterSample.record(headers: own)))
        let second = try #require(DeadLetterSample.letter(DeadLetterSample.diedAgain(first, offset: 9)))
        #expect(second.id != first.id)
        #expect(second.firstID == first.id)
        #expect(second.offset == 9)
        #expect(second.redrives == 1)
        let redriven = second.redriven(partitions: 1)
        #expect(redriven.headers.map(\.name) == own.map(\.name) + Self.ofRedrive)
        #expect(redriven.headers.dropLast().last?.value == Array("2".utf8))
        #expect(redriven.timestamp == Timestamp.test.microseconds / 1000)
    }

    @Test(
        arguments: [
            "dead-letter-id", "dead-letter-reason", "dead-letter-topic", "dead-letter-time", "dead-letter-offset",
        ]
    )
    func `a record without our headers is no dead letter`(name: String) {
        var record = DeadLetterSample.record()
        record.headers.removeAll { $0.name == name }
        #expect(DeadLetterSample.letter(record) == nil)
        for value in [nil, [], [0xff], Array("\u{2d}9223372036854775809".utf8), [UInt8](repeating: 0x31, count: 400)] {
            record.headers.append(RecordHeader(name: name, value: value))
            let letter = DeadLetterSample.letter(record)
            if letter != nil { #expect(["dead-letter-reason", "dead-letter-topic", "dead-letter-id"].contains(name)) }
        }
    }

    @Test func `a plan takes each record once, as the newest, and only to the topics that are read`() throws {
        let first = try #require(DeadLetterSample.letter(DeadLetterSample.record()))
        let again = try #require(DeadLetterSample.letter(DeadLetterSample.diedAgain(first, offset: 9)))
        let receipt = try #require(
            DeadLetterSample.letter(DeadLetterSample.record(topic: "receipts", reason: .badSignature))
        )
        let foreign = try #require(DeadLetterSample.letter(DeadLetterSample.record(topic: "other")))
        var topics = KafkaSettings.Topics()
        (topics.requests, topics.receipts) = ("requests", "receipts")
        for letters in [[first, again, receipt, foreign, first], [foreign, again, first, again, receipt]] {
            var plan = RedrivePlan(.all, topics: topics)
            for letter in letters { plan.consider(letter) }
            #expect(plan.count == 2)
            #expect(plan.counts.map(\.topic) == ["receipts", "requests"])
            #expect(plan.refused.map(\.topic) == ["other"])
            #expect(plan.waiting == [again.id, receipt.id])
            let taken = [first, again, again, foreign].map { plan.take($0) }
            #expect(taken == [false, true, false, false])
        }
        var byReason = RedrivePlan(.reason(.badSignature), topics: topics)
        var byID = RedrivePlan(.ids([first.id, "unknown"]), topics: topics)
        for letter in [first, again, receipt, foreign] {
            byReason.consider(letter)
            byID.consider(letter)
        }
        #expect(byReason.waiting == [receipt.id])
        #expect(byID.waiting == [first.id])
        #expect(byID.missing == ["unknown"])
        let report = RedriveReport(plan: byID, outcome: nil, topics: topics)
        #expect(report.lines == ["1 would go back to requests", "not found: unknown"])
        #expect(!report.isComplete)
    }

    static let ofRedrive = ["dead-letter-id", "dead-letter-redrives", "dead-letter-timestamp"]

    @Test(arguments: [Duration.seconds(600), .seconds(-1)])
    func `a record that died again has its first time, whoever set the time of the redrive`(later: Duration) throws {
        let first = try #require(DeadLetterSample.letter(DeadLetterSample.record()))
        let headers = first.redriven(partitions: 1).headers
        let second = DeadLetterSample.record(offset: 9, made: .test + later, headers: headers)
        #expect(try #require(DeadLetterSample.letter(second)).timestamp == min(.test, .test + later))
        let old = DeadLetterSample.record(offset: 9, headers: headers.dropLast())
        let letter = try #require(DeadLetterSample.letter(old))
        #expect((letter.firstID, letter.redrives, letter.timestamp) == (first.id, 1, .test))
        #expect(letter.redriven(partitions: 1).headers.map(\.name) == Self.ofRedrive)
    }

    /// Headers with the names of the worker's own, as a sender may write them.
    static let forged = [
        ("dead-letter-id", "forged"), ("dead-letter-reason", "tombstone"), ("dead-letter-topic", "receipts"),
        ("dead-letter-partition", "2"), ("dead-letter-offset", "77"), ("dead-letter-timestamp", "1"),
        ("dead-letter-time", "2001-01-01T00:00:00Z"), ("dead-letter-redrives", "7"),
        ("dead-letter-value-bytes", "9"), ("dead-letter-headers", "9"),
    ].map { RecordHeader(name: $0, value: Array($1.utf8)) }

    @Test(arguments: [forged] + forged.map { [$0] })
    func `what a sender wrote into headers like ours is not believed`(headers: [RecordHeader]) throws {
        let plain = try #require(DeadLetterSample.letter(DeadLetterSample.record(made: nil)))
        let letter = try #require(DeadLetterSample.letter(DeadLetterSample.record(made: nil, headers: headers)))
        #expect((letter.id, letter.firstID, letter.reason) == (plain.id, plain.id, "not_json"))
        #expect((letter.topic, letter.partition, letter.offset) == ("requests", 0, 0))
        #expect(letter.timestamp == nil && letter.time == plain.time)
        #expect(letter.redrives == 0 && !letter.isShortened && letter.size == 1)
        #expect(Array(letter.redriven(partitions: 1).headers.dropLast(3)) == headers)
        let again = try #require(DeadLetterSample.letter(DeadLetterSample.diedAgain(letter, offset: 9)))
        #expect((again.firstID, again.redrives) == (letter.id, 1))
        #expect(again.identity == letter.identity)
    }

    @Test func `a record with another one's id in its headers keeps no other from going back`() throws {
        let letter = try #require(DeadLetterSample.letter(DeadLetterSample.record("{a")))
        let claim = [("dead-letter-id", letter.id), ("dead-letter-redrives", "1000000")].map {
            RecordHeader(name: $0, value: Array($1.utf8))
        }
        let liar = try #require(DeadLetterSample.letter(DeadLetterSample.record("{b", offset: 1, headers: claim)))
        var topics = KafkaSettings.Topics()
        topics.requests = "requests"
        for letters in [[letter, liar], [liar, letter]] {
            var plan = RedrivePlan(.all, topics: topics)
            for letter in letters { plan.consider(letter) }
            #expect(plan.waiting == [letter.id, liar.id])
        }
    }

    @Test func `of a record whose beginning alone is left nothing goes back`() throws {
        let whole = try #require(DeadLetterSample.letter(DeadLetterSample.record()))
        let record = DeadLetterSample.shortened(DeadLetterSample.record(offset: 7), bytes: 100_000)
        let short = try #require(DeadLetterSample.letter(record))
        #expect(short.isShortened && !whole.isShortened)
        var topics = KafkaSettings.Topics()
        topics.requests = "requests"
        for selection in [DeadLetterSelection.all, .reason(.notJSON), .ids([whole.id, short.id])] {
            var plan = RedrivePlan(selection, topics: topics)
            for letter in [short, whole, short] { plan.consider(letter) }
            #expect(plan.waiting == [whole.id])
            #expect(plan.missing.isEmpty)
            let taken = [short, whole].map { plan.take($0) }
            #expect(taken == [false, true])
            let report = RedriveReport(plan: plan, outcome: Redrive.Outcome(sent: ["requests": 1]), topics: topics)
            #expect(report.lines.count == 2)
            #expect(report.lines.last?.hasPrefix("1 refused: only their beginnings are here") == true)
            #expect(!report.isComplete)
        }
    }

    @Test func `a record that is among the dead letters whole too goes back as that`() throws {
        let first = try #require(DeadLetterSample.letter(DeadLetterSample.record()))
        let again = DeadLetterSample.shortened(DeadLetterSample.diedAgain(first, offset: 9), bytes: 100_000)
        let repeated = DeadLetterSample.shortened(DeadLetterSample.record(), bytes: 100_000)
        let short = try [again, repeated].map { try #require(DeadLetterSample.letter($0)) }
        var topics = KafkaSettings.Topics()
        topics.requests = "requests"
        var plan = RedrivePlan(.all, topics: topics)
        for letter in short + [first] { plan.consider(letter) }
        #expect(plan.shortenedCount == 0)
        let taken = (short + [first]).map { plan.take($0) }
        #expect(taken == [false, false, true])
        #expect(RedriveReport(plan: plan, outcome: Redrive.Outcome(sent: ["requests": 1]), topics: topics).isComplete)
    }

    @Test(arguments: [("100000", 100_000), ("1", 4), ("-5", 4), ("many", 4), ("99999999999999999999", 4)])
    func `the list shows how long a shortened value was`(header: String, size: Int) throws {
        var record = DeadLetterSample.record("1234")
        record.headers.append(RecordHeader(name: "dead-letter-value-bytes", value: Array(header.utf8)))
        let letter = try #require(DeadLetterSample.letter(record))
        #expect(letter.isShortened)
        var list = DeadLetterList(limit: 1, showsPayload: false)
        list.add(letter)
        #expect(list.text.last?.contains(" \(size) ") == true, "\(list.text)")
        let line = try #require(list.json.first.map { String(decoding: $0, as: UTF8.self) })
        #expect(line.contains(#""size":\#(size),"isShortened":true"#), "\(line)")
    }

    @Test func `the list shows the newest once, and payloads only when asked for`() throws {
        var records = (0..<5).map { index in
            DeadLetterSample.record("{\u{1b}+4915112345678", offset: Int64(index), died: .test + .seconds(9 - index))
        }
        records.append(records[0])
        var list = DeadLetterList(limit: 2, showsPayload: false)
        var open = DeadLetterList(limit: 2, showsPayload: true)
        for letter in records.compactMap(DeadLetterSample.letter) {
            list.add(letter)
            open.add(letter)
        }
        #expect(list.text.count == 4)
        #expect(list.text[1].contains("requests/0@1"))
        #expect(list.text[2].contains("requests/0@0"))
        #expect(list.text[3] == "the newest 2 of 5; more with --limit")
        #expect(list.json.count == 2)
        let shown = list.text.joined() + list.json.map { String(decoding: $0, as: UTF8.self) }.joined()
        #expect(!shown.contains("+4915112345678"))
        #expect(open.text[2] == "    { +4915112345678")
        let line = try #require(open.json.last.map { String(decoding: $0, as: UTF8.self) })
        #expect(line.contains(#""payload":"{\u001b+4915112345678""#))
        #expect(line.contains(#""reason":"not_json","topic":"requests","partition":0,"offset":0,"#))
        #expect(DeadLetterList(limit: 1, showsPayload: false).text == ["no dead letters"])
    }

    @Test func `a list holds less than twice what it shows, and of a record only what it shows`() {
        var list = DeadLetterList(limit: 3, showsPayload: false)
        var open = DeadLetterList(limit: 3, showsPayload: true)
        let records = (0..<1000).map { DeadLetterSample.record(offset: Int64($0), died: .test + .seconds($0)) }
        var most = 0
        for letter in records.compactMap(DeadLetterSample.letter) {
            list.add(letter)
            open.add(letter)
            most = max(most, list.letters.count)
        }
        #expect(most < 6)
        let kept = list.letters.values.map(\.record)
        #expect(kept.allSatisfy { $0.value == nil && $0.key == [] && $0.headers.isEmpty })
        #expect(open.letters.values.allSatisfy { $0.record.value == Array("{".utf8) })
        #expect(list.text.dropFirst().map { $0.contains("requests/0@") } == [true, true, true, false])
        #expect(list.text[1].contains("requests/0@997") && list.text[1].contains(" 1 ") && list.text[1].contains("yes"))
        #expect(list.text.last == "the newest 3 of 1,000; more with --limit")
    }

    @Test func `a redrive is told what goes back in exactly one way`() {
        let redrive = DeadLettersRedriveCommand.self
        #expect(throws: (any Error).self) { try redrive.parse([]) }
        #expect(throws: (any Error).self) { try redrive.parse(["--all", "--reason", "not_json"]) }
        #expect(throws: (any Error).self) { try redrive.parse(["--reason", "no_such_reason"]) }
        #expect(throws: Never.self) { try redrive.parse(["--id", "a", "b", "--dry-run"]) }
        #expect(throws: (any Error).self) { try DeadLettersListCommand.parse(["--limit", "0"]) }
    }
}
