// SPDX-License-Identifier: Apache-2.0

/// Dead letters that no topic takes whole.
extension OutboxRecord {
    /// The most headers of a dead letter; of a record with more than 100,000 librdkafka shows none at all.
    private static let maximumHeaders = 1000

    /// The most bytes of a value, and of its sender's headers, that a shortened dead letter keeps.
    private static let largestRoom = 65_536

    /// The room for a dead letter that cannot be sent whole, wherever it goes; nil for one that can.
    package var roomInOneRecord: Int? { headers.count > Self.maximumHeaders ? Self.largestRoom : nil }

    /// The next smaller room, in which something is cut off; nil when our own headers alone were too much.
    package func room(below room: Int?) -> Int? {
        guard room != 0 else { return nil }
        var next = room.map { $0 / 4 } ?? Self.largestRoom
        while next >= size { next /= 4 }
        return next
    }

    /// A dead letter with the beginnings of its key and its value, its last headers, all of ours, and how long the value
    /// and the list of headers were in two more.
    package func shortened(to room: Int) -> OutboxRecord {
        let lengths = [
            RecordField("dead-letter-value-bytes", String(value?.count ?? 0)),
            RecordField("dead-letter-headers", String(headers.count - ownHeaders.count)),
        ]
        var headerRoom = room
        let foreign = headers.dropLast(ownHeaders.count).suffix(
            Self.maximumHeaders - ownHeaders.count - lengths.count
        )
        let kept = foreign.reversed().filter { header in
            guard header.size <= min(1024, headerRoom) else { return false }
            headerRoom -= header.size
            return true
        }
        return OutboxRecord(
            stream: stream,
            sequence: sequence,
            isDeadLetter: isDeadLetter,
            key: key.map { Array($0.prefix(min(1024, room))) },
            value: value.map { Array($0.prefix(room)) },
            headers: kept.reversed() + ownHeaders + lengths
        )
    }

    /// The headers that we added: they stand last, and begin with the last id.
    private var ownHeaders: ArraySlice<RecordField> {
        headers[(headers.lastIndex { $0.name == "dead-letter-id" } ?? headers.endIndex)...]
    }
}
