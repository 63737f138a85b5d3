// SPDX-License-Identifier: Apache-2.0

/// Dead letters that are too large for their topic.
extension OutboxRecord {
    /// The maximum number of headers of a dead letter; librdkafka exposes none of a record with more than 100,000.
    private static let maximumHeaders = 1000

    /// The maximum size in bytes of the value, and of the sender's headers, in a shortened dead letter.
    private static let largestRoom = 65_536

    /// The size limit for a dead letter that no topic accepts unshortened; nil for any other.
    package var roomInOneRecord: Int? { headers.count > Self.maximumHeaders ? Self.largestRoom : nil }

    /// The next smaller limit that shortens the record; nil if even our own headers alone were too large.
    package func room(below room: Int?) -> Int? {
        guard room != 0 else { return nil }
        var next = room.map { $0 / 4 } ?? Self.largestRoom
        while next >= size { next /= 4 }
        return next
    }

    /// A shortened dead letter: the beginnings of key and value, the last of the sender's headers, and all of ours.
    ///
    /// Two more headers give the original size of the value and the original number of headers.
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

    /// Our own headers: they are last, and begin with the last id.
    private var ownHeaders: ArraySlice<RecordField> {
        headers[(headers.lastIndex { $0.name == "dead-letter-id" } ?? headers.endIndex)...]
    }
}
