// SPDX-License-Identifier: Apache-2.0

/// What is remembered of a request id.
package struct KnownRequest: Sendable, Equatable {
    /// Where it has come, as a row keeps it: `topic/partition@offset` of the newest record in each partition, by the
    /// partitions' names, with a space between.
    ///
    /// `topic/partition#offset@milliseconds` behind a place is that record's time, and with `^` for `#` the latest time of
    /// those up to it, where that is another one: producers' clocks differ.
    ///
    /// A place without a time is one of a release that kept none, or of a record that has none. Such a release takes a time
    /// for the place in one more partition and keeps it as it is; with the offset in it, it is not taken for a later record's.
    package private(set) var placesText: String
    package let digest: [UInt8]

    /// The verification the request belongs to; nil when the request was refused.
    package var verificationID: VerificationID?

    /// The decision of a request without a verification.
    package var status: DeliveryStatus?
    package var reason: String?
    package var rule: String?

    /// What is remembered of a request that a candidate begins.
    package init(of candidate: Candidate) {
        self.init(
            placesText: candidate.place,
            digest: candidate.digest,
            verificationID: candidate.verificationID
        )
    }

    /// Whether a record is one that has been decided before.
    ///
    /// A topic that is made anew, or that of another cluster, gives its offsets a second time: a record with the newest
    /// offset has its time, too, and one with an earlier offset is no younger than the latest up to there.
    func hasSeen(_ record: InboundRecord) -> Bool {
        guard let place = places[record.source], record.offset <= place.offset else { return false }
        guard let time = place.time, let own = record.timestamp?.milliseconds else { return true }
        return record.offset == place.offset ? own == time.own : own <= time.latest
    }

    /// Remembers one more record with this id.
    package mutating func see(_ record: InboundRecord) {
        var places = places
        places[record.source] = Place(record, after: places[record.source])
        placesText = Self.text(places)
    }

    /// The newest record of a partition.
    private struct Place {
        let offset: Int64

        /// In milliseconds since 1970, as Kafka counts.
        var time: (own: Int64, latest: Int64)?

        init(offset: Int64) { self.offset = offset }

        /// Behind a place without a time there is none either: how late those up to there were nobody knows.
        init(_ record: InboundRecord, after earlier: Place? = nil) {
            offset = record.offset
            guard let own = record.timestamp?.milliseconds else { return }
            if let earlier, earlier.offset < offset {
                time = earlier.time.map { (own, max(own, $0.latest)) }
            } else {
                time = (own, own)
            }
        }

        func text(_ source: String) -> String {
            var text = "\(source)@\(offset)"
            guard let time else { return text }
            text += " \(source)#\(offset)@\(time.own)"
            if time.latest != time.own { text += " \(source)^\(offset)@\(time.latest)" }
            return text
        }
    }

    /// The newest record in each partition; what is no place is left out, and so is a time of another offset.
    private var places: [String: Place] {
        var places: [String: Place] = [:]
        var times: [(source: String, offset: Int64, isLatest: Bool, milliseconds: Int64)] = []
        for text in placesText.split(separator: " ") {
            guard let at = text.lastIndex(of: "@"), let number = Int64(text[text.index(after: at)...]) else { continue }
            let name = text[..<at]
            guard let mark = name.lastIndex(where: { $0 == "#" || $0 == "^" }) else {
                places[String(name)] = Place(offset: number)
                continue
            }
            guard let offset = Int64(name[name.index(after: mark)...]) else { continue }
            times.append((String(name[..<mark]), offset, name[mark] == "^", number))
        }
        // A release that does not know times sorts all parts by their names: a place may stand behind its times.
        for time in times where !time.isLatest && places[time.source]?.offset == time.offset {
            places[time.source]?.time = (time.milliseconds, time.milliseconds)
        }
        for time in times where time.isLatest && places[time.source]?.offset == time.offset {
            places[time.source]?.time?.latest = time.milliseconds
        }
        return places
    }

    private static func text(_ places: [String: Place]) -> String {
        places.sorted { $0.key < $1.key }.map { $1.text($0) }.joined(separator: " ")
    }

    /// `placesText` of one record.
    static func place(of record: InboundRecord) -> String { Place(record).text(record.source) }

    package init(
        placesText: String,
        digest: [UInt8],
        verificationID: VerificationID?,
        status: DeliveryStatus? = nil,
        reason: String? = nil,
        rule: String? = nil
    ) {
        self.placesText = placesText
        self.digest = digest
        self.verificationID = verificationID
        self.status = status
        self.reason = reason
        self.rule = rule
    }
}
