// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Formats
import SettingsReading
import Verification

/// A point in time on the command line.
enum TimeArgument: ExpressibleByArgument, Equatable {
    case now
    case beginning
    case ago(Duration)
    case at(Timestamp)

    /// Parses `now`, `beginning`, a span before now such as `7d` or `12h`, a date, or an RFC 3339 time.
    init?(argument: String) {
        switch argument {
        case "now": self = .now
        case "beginning": self = .beginning
        default:
            if let span = Self.span(argument) {
                self = .ago(span)
            } else if let time = Timestamp(rfc3339: argument.utf8.count == 10 ? "\(argument)T00:00:00Z" : argument) {
                self = .at(time)
            } else {
                return nil
            }
        }
    }

    /// The default in a help text: the words that would set it.
    var defaultValueDescription: String {
        switch self {
        case .now: "now"
        case .beginning: "beginning"
        case .ago(let span): DurationText.format(span)
        case .at(let time): time.rfc3339
        }
    }

    /// The absolute time; nil for the beginning of the topic or log.
    func time(before now: Timestamp) -> Timestamp? {
        switch self {
        case .now: now
        case .beginning: nil
        case .ago(let span): now - span
        case .at(let time): time
        }
    }

    private static func span(_ text: String) -> Duration? {
        guard text.hasSuffix("d") else { return DurationText.parse(text) }
        let digits = text.dropLast()
        guard digits.utf8.count <= 4, !digits.hasPrefix("+"), let days = Int64(digits), days >= 0 else { return nil }
        return .seconds(days * 86_400)
    }
}
