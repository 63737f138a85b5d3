// SPDX-License-Identifier: Apache-2.0

/// Which dead letters go back to where they came from.
///
/// A record that was redriven and died again is in the topic several times; of those it goes back once, as the newest.
/// Otherwise every redrive of everything would double what it finds the next time.
struct RedrivePlan {
    private struct Choice {
        let id: String
        let redrives: Int
        let topic: String
    }

    let selection: DeadLetterSelection

    /// The topics that records may go back to: those that workers read.
    private let topics: Set<String>

    /// By the identity of what may be several dead letters of one record.
    ///
    /// The id of the first of them is not enough: a sender who guesses one can write it into a header of another record,
    /// which would keep the true one from going back.
    private var choices: [[UInt8]: Choice] = [:]

    /// The first ids of what goes back.
    private var chosen: Set<String> = []

    /// The ids of selected dead letters from other topics, by topic.
    private var refusals: [String: Set<String>] = [:]

    /// The first ids of selected dead letters that hold only the beginning of their record.
    private var shortened: Set<String> = []

    /// The ids that were asked for and have not been seen.
    private(set) var missing: Set<String> = []

    /// The ids of the dead letters that are to go back and have not yet.
    private(set) var waiting: Set<String> = []

    init(_ selection: DeadLetterSelection, topics: KafkaSettings.Topics) {
        self.selection = selection
        self.topics = [topics.requests, topics.receipts]
        if case .ids(let ids) = selection { missing = ids }
    }

    var count: Int { choices.count }

    /// How many go back to each topic.
    var counts: [(topic: String, count: Int)] {
        Dictionary(grouping: choices.values, by: \.topic).map { ($0, $1.count) }.sorted { $0.0 < $1.0 }
    }

    /// How many are refused for the topic that they came from.
    var refused: [(topic: String, count: Int)] {
        refusals.map { ($0, $1.count) }.sorted { $0.0 < $1.0 }
    }

    /// How many records are refused because only their beginning is left.
    ///
    /// One of which an earlier dead letter is whole goes back as that.
    var shortenedCount: Int { shortened.count { !chosen.contains($0) } }

    /// Takes a dead letter into the plan, if it is meant.
    mutating func consider(_ letter: DeadLetter) {
        guard selection.contains(letter) else { return }
        missing.remove(letter.id)
        guard topics.contains(letter.topic) else {
            refusals[letter.topic, default: []].insert(letter.id)
            return
        }
        guard !letter.isShortened else {
            shortened.insert(letter.firstID)
            return
        }
        let identity = letter.identity
        let earlier = choices[identity]
        if let earlier, earlier.redrives >= letter.redrives { return }
        chosen.insert(letter.firstID)
        choices[identity] = Choice(id: letter.id, redrives: letter.redrives, topic: letter.topic)
        if let earlier { waiting.remove(earlier.id) }
        waiting.insert(letter.id)
    }

    /// Whether a dead letter is to go back now; true once for each.
    mutating func take(_ letter: DeadLetter) -> Bool {
        !letter.isShortened && waiting.remove(letter.id) != nil
    }
}
