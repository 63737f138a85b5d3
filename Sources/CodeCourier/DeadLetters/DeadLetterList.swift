// SPDX-License-Identifier: Apache-2.0

import Formats
import KafkaClient
import Verification

/// Collects the newest dead letters and prints them as lines.
///
/// A dead letter's payload is shown only on request, since it may hold a phone number.
struct DeadLetterList {
    private let limit: Int
    private let showsPayload: Bool

    /// The newest dead letters by id, up to twice the limit, so that they are rarely sorted.
    private(set) var letters: [String: DeadLetter] = [:]

    /// The number of dead letters, without copies of those that were held at the time.
    ///
    /// To recognize all copies, the ids of the whole topic would have to be kept.
    private(set) var count = 0

    init(limit: Int, showsPayload: Bool) {
        (self.limit, self.showsPayload) = (limit, showsPayload)
    }

    mutating func add(_ letter: DeadLetter) {
        guard letters[letter.id] == nil else { return }
        count += 1
        letters[letter.id] = letter.listed(withValue: showsPayload)
        if letters.count >= 2 * limit { letters = Dictionary(newest.map { ($0.id, $0) }) { first, _ in first } }
    }

    /// The newest dead letters, oldest first.
    private var newest: [DeadLetter] {
        Array(letters.values.sorted { ($0.time, $0.id) < ($1.time, $1.id) }.suffix(limit))
    }

    var text: [String] {
        let newest = newest
        guard !newest.isEmpty else { return ["no dead letters"] }
        var table = TextTable(numbers: [4], indent: 0)
        table.row("id", "time", "reason", "from", "size", "key", "redrives")
        for letter in newest {
            table.row(
                letter.id,
                letter.time.rfc3339,
                letter.reason,
                "\(letter.topic)/\(letter.partition)@\(letter.offset)",
                letter.size.map { String($0) } ?? "none",
                letter.record.key == nil ? "no" : "yes",
                String(letter.redrives)
            )
        }
        var lines = table.lines
        if showsPayload {
            let payloads = newest.map { "    \(String(decoding: $0.record.value ?? [], as: UTF8.self).printable)" }
            lines = [lines[0]] + zip(lines.dropFirst(), payloads).flatMap { [$0, $1] }
        }
        if count > newest.count {
            lines.append("the newest \(newest.count.grouped) of \(count.grouped); more with --limit")
        }
        return lines
    }

    /// One JSON object a line.
    var json: [[UInt8]] { newest.map(json) }

    private func json(_ letter: DeadLetter) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { object in
            object.member("id", letter.id)
            object.member("time", letter.time.rfc3339)
            object.member("reason", letter.reason)
            object.member("topic", letter.topic)
            object.member("partition", Int64(letter.partition))
            object.member("offset", letter.offset)
            object.member("timestamp", ifPresent: letter.timestamp?.rfc3339)
            object.member("size", ifPresent: letter.size.map { Int64($0) })
            object.member("isShortened", letter.isShortened)
            object.member("hasKey", letter.record.key != nil)
            object.member("redrives", Int64(letter.redrives))
            if showsPayload, let value = letter.record.value {
                object.member("payload", String(decoding: value, as: UTF8.self))
            }
        }
        return writer.bytes
    }
}
