// SPDX-License-Identifier: Apache-2.0

/// Selects the dead letters to redrive.
///
/// A record that was redriven and failed again is in the topic several times; only its newest dead letter is redriven.
/// Otherwise every redrive of all dead letters would double what the next one finds.
struct RedrivePlan {
    private struct Choice {
        let id: String
        let redrives: Int
        let topic: String
    }

    let selection: DeadLetterSelection

    /// The topics that records may return to: those that workers read.
    private let topics: Set<String>

    /// The choice for each record, by `DeadLetter.identity`.
    ///
    /// The first id alone does not suffice as the key: a sender who guesses one could write it into a header of another
    /// record, which would prevent the redrive of the real one.
    private var choices: [[UInt8]: Choice] = [:]

    /// The first ids of the chosen dead letters.
    private var chosen: Set<String> = []

    /// The ids of selected dead letters from other topics, by topic.
    private var refusals: [String: Set<String>] = [:]

    /// The first ids of selected dead letters that are truncated.
    private var shortened: Set<String> = []

    /// The requested ids that have not been found.
    private(set) var missing: Set<String> = []

    /// The ids of the chosen dead letters that are not redriven yet.
    private(set) var waiting: Set<String> = []

    init(_ selection: DeadLetterSelection, topics: KafkaSettings.Topics) {
        self.selection = selection
        self.topics = [topics.requests, topics.receipts]
        if case .ids(let ids) = selection { missing = ids }
    }

    var count: Int { choices.count }

    /// The number of records to redrive, by topic.
    var counts: [(topic: String, count: Int)] {
        Dictionary(grouping: choices.values, by: \.topic).map { ($0, $1.count) }.sorted { $0.0 < $1.0 }
    }

    /// The number of records refused because of their topic, by topic.
    var refused: [(topic: String, count: Int)] {
        refusals.map { ($0, $1.count) }.sorted { $0.0 < $1.0 }
    }

    /// The number of records refused because they are truncated.
    ///
    /// A record with an earlier dead letter that is complete is redriven from that one.
    var shortenedCount: Int { shortened.count { !chosen.contains($0) } }

    /// Adds a dead letter to the plan, if it is selected.
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

    /// True when a dead letter is to be redriven now: at its first call only, which removes it from the waiting ones.
    mutating func take(_ letter: DeadLetter) -> Bool {
        !letter.isShortened && waiting.remove(letter.id) != nil
    }
}
