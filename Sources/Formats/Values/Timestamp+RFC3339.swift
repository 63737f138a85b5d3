// SPDX-License-Identifier: Apache-2.0

extension Timestamp {
    /// Reads an RFC 3339 date-time such as `2026-11-20T12:34:56.789+01:00`; nil for anything else.
    ///
    /// The fraction has one to nine digits; those below a microsecond are truncated. A leap second (`:60`) is accepted
    /// only at 23:59 UTC, and becomes the last microsecond before midnight. Years are 0001 to 9999, also after the
    /// offset is applied.
    package init?(rfc3339 text: String) {
        self.init(text, asSerialized: false)
    }

    /// Reads a date-time as serializers of many languages write it; nil for anything else.
    ///
    /// RFC 3339; also with a space for the `T` (Python's `str()`, PostgreSQL), with an offset without its colon (PHP's
    /// `DATE_ISO8601`, Jackson's `java.util.Date`), and with an offset of hours alone (PostgreSQL).
    package init?(serialized text: String) {
        self.init(text, asSerialized: true)
    }

    private init?(_ text: String, asSerialized: Bool) {
        var reader = DigitReader(bytes: Array(text.utf8))
        guard let year = reader.number(digits: 4), reader.skip(UInt8(ascii: "-")) else { return nil }
        guard let month = reader.number(digits: 2), reader.skip(UInt8(ascii: "-")) else { return nil }
        guard let day = reader.number(digits: 2) else { return nil }
        guard reader.skip(UInt8(ascii: "t")) || asSerialized && reader.skip(UInt8(ascii: " ")) else { return nil }
        guard let hour = reader.number(digits: 2), reader.skip(UInt8(ascii: ":")) else { return nil }
        guard let minute = reader.number(digits: 2), reader.skip(UInt8(ascii: ":")) else { return nil }
        guard let second = reader.number(digits: 2), let fraction = reader.fraction() else { return nil }
        guard let offset = reader.offset(asSerialized: asSerialized), reader.isAtEnd else { return nil }

        guard (1...9999).contains(year), (1...12).contains(month) else { return nil }
        guard day >= 1, day <= CalendarDate.days(in: month, of: year) else { return nil }
        guard hour <= 23, minute <= 59, second <= 60 else { return nil }

        let days = CalendarDate(year: year, month: month, day: day).daysSinceEpoch
        let minutes = days * 1440 + hour * 60 + minute - offset
        let isLeap = second == 60
        if isLeap, CalendarDate.floorModulo(minutes, 1440) != 1439 { return nil }
        let seconds = minutes * 60 + (isLeap ? 59 : second)
        let value = Timestamp(microseconds: seconds * 1_000_000 + (isLeap ? 999_999 : fraction))
        guard Self.writable.contains(value) else { return nil }
        self = value
    }

    /// The time in UTC with milliseconds, such as `2026-11-20T12:34:56.789Z`.
    ///
    /// Always 24 characters: microseconds are truncated, and times outside the years 0001 to 9999 are written as the
    /// nearest one inside.
    package var rfc3339: String { String(decoding: rfc3339Bytes, as: UTF8.self) }

    /// The bytes of `rfc3339`.
    package var rfc3339Bytes: [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(24)
        appendRFC3339(to: &text)
        return text
    }

    /// Appends the bytes of `rfc3339`.
    func appendRFC3339(to text: inout [UInt8]) {
        let time = min(max(self, Self.writable.lowerBound), Self.writable.upperBound)
        let milliseconds = CalendarDate.floorQuotient(time.microseconds, 1000)
        let days = CalendarDate.floorQuotient(milliseconds, 86_400_000)
        let rest = milliseconds - days * 86_400_000
        let date = CalendarDate(daysSinceEpoch: days)
        var characters = InlineArray<24, UInt8>(repeating: UInt8(ascii: "Z"))
        Self.write(date.year, digits: 4, then: "-", before: 5, of: &characters)
        Self.write(date.month, digits: 2, then: "-", before: 8, of: &characters)
        Self.write(date.day, digits: 2, then: "T", before: 11, of: &characters)
        Self.write(rest / 3_600_000, digits: 2, then: ":", before: 14, of: &characters)
        Self.write(rest / 60_000 % 60, digits: 2, then: ":", before: 17, of: &characters)
        Self.write(rest / 1000 % 60, digits: 2, then: ".", before: 20, of: &characters)
        Self.write(rest % 1000, digits: 3, then: "Z", before: 24, of: &characters)
        characters.span.withUnsafeBytes { text.append(contentsOf: $0) }
    }

    /// From 0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999999Z.
    private static let writable: ClosedRange<Timestamp> =
        Timestamp(microseconds: -62_135_596_800_000_000)...Timestamp(microseconds: 253_402_300_799_999_999)

    private static func write(
        _ number: Int64,
        digits: Int,
        then mark: Unicode.Scalar,
        before end: Int,
        of text: inout InlineArray<24, UInt8>
    ) {
        text[end - 1] = UInt8(ascii: mark)
        var rest = number
        for place in 2..<2 + digits {
            text[end - place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }
}

/// A date of the proleptic Gregorian calendar.
///
/// The conversions are those of Howard Hinnant's "chrono-Compatible Low-Level Date Algorithms": years begin in March,
/// so that the leap day is the last day of its year.
private struct CalendarDate {
    let year: Int64
    let month: Int64
    let day: Int64

    init(year: Int64, month: Int64, day: Int64) {
        self.year = year
        self.month = month
        self.day = day
    }

    init(daysSinceEpoch: Int64) {
        let shifted = daysSinceEpoch + 719_468
        let era = Self.floorQuotient(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    var daysSinceEpoch: Int64 {
        let marchYear = month <= 2 ? year - 1 : year
        let era = Self.floorQuotient(marchYear, 400)
        let yearOfEra = marchYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    static func days(in month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }

    static func floorQuotient(_ number: Int64, _ divisor: Int64) -> Int64 {
        (number - floorModulo(number, divisor)) / divisor
    }

    static func floorModulo(_ number: Int64, _ divisor: Int64) -> Int64 {
        let remainder = number % divisor
        return remainder < 0 ? remainder + divisor : remainder
    }
}

private struct DigitReader {
    let bytes: [UInt8]
    private var position = 0

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { position == bytes.count }

    /// Skips one character; a letter matches in either case.
    mutating func skip(_ mark: UInt8) -> Bool {
        guard position < bytes.count else { return false }
        let byte = bytes[position]
        guard byte == mark || ((0x41...0x5a).contains(byte) && byte | 0x20 == mark) else { return false }
        position += 1
        return true
    }

    mutating func number(digits: Int) -> Int64? {
        guard bytes.count - position >= digits else { return nil }
        var number: Int64 = 0
        for _ in 0..<digits {
            guard let digit = digit() else { return nil }
            number = number * 10 + digit
        }
        return number
    }

    /// The microseconds after a point; 0 without a point, nil with no digits or too many.
    mutating func fraction() -> Int64? {
        guard skip(UInt8(ascii: ".")) else { return 0 }
        var microseconds: Int64 = 0
        var count = 0
        while let digit = digit() {
            count += 1
            if count <= 6 { microseconds = microseconds * 10 + digit }
            guard count <= 9 else { return nil }
        }
        guard count > 0 else { return nil }
        for _ in 0..<max(0, 6 - count) { microseconds *= 10 }
        return microseconds
    }

    /// The local time's offset from UTC in minutes; as serialized, the colon or the minutes may be absent.
    mutating func offset(asSerialized: Bool) -> Int64? {
        if skip(UInt8(ascii: "z")) { return 0 }
        let isBehind = skip(UInt8(ascii: "-"))
        guard isBehind || skip(UInt8(ascii: "+")) else { return nil }
        guard let hours = number(digits: 2), hours <= 23 else { return nil }
        if asSerialized, isAtEnd { return (isBehind ? -1 : 1) * hours * 60 }
        guard skip(UInt8(ascii: ":")) || asSerialized else { return nil }
        guard let minutes = number(digits: 2), minutes <= 59 else { return nil }
        return (isBehind ? -1 : 1) * (hours * 60 + minutes)
    }

    private mutating func digit() -> Int64? {
        guard position < bytes.count, (0x30...0x39).contains(bytes[position]) else { return nil }
        position += 1
        return Int64(bytes[position - 1] - 0x30)
    }
}
