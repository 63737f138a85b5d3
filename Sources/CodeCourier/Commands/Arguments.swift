// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Formats
import Foundation
import PostgresClient
import SettingsReading
import Verification

/// A phone number as people write it on a command line: `+49 (151) 234-567.89`, `0049151…`, or only digits behind a plus.
enum PhoneArgument {
    /// The number in the form of E.164 if the text may be one, otherwise the text.
    static func normalized(_ text: String) -> String {
        var digits = text.filter { !$0.isWhitespace && !"-.()/\u{2010}\u{2011}\u{2012}\u{2013}".contains($0) }
        if digits.hasPrefix("00") { digits = "+" + digits.dropFirst(2) }
        return PhoneNumber(digits) == nil ? text : digits
    }

    static func parse(_ text: String) -> PhoneNumber? { PhoneNumber(normalized(text)) }
}

/// A language on a command line, such as `de`, `pt-BR` or `fil`.
enum LanguageArgument {
    /// False also for well-formed tags that no language has, such as `klingon`: registered ones have 2 or 3 letters.
    static func isValid(_ text: String) -> Bool {
        guard let tag = LanguageTag(text) else { return false }
        return (2...3).contains(tag.text.prefix { $0 != "-" }.count)
    }
}

/// An argument that names a person: other users of the machine could see it, so a hyphen prompts for it or reads a
/// pipe.
enum PersonArgument {
    static func text(_ given: String, _ what: String) throws -> String {
        guard given == "-" else { return given }
        if isatty(STDIN_FILENO) == 1 { printError(what, terminator: ": ") }
        guard let line = readLine() else { throw StartFailure.report(["no \(what) on standard input"]) }
        return line.trimmed
    }
}

extension String {
    fileprivate var trimmed: String {
        var text = self[...]
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text.drop(while: \.isWhitespace))
    }
}

/// Removes a password in `--postgres-url` from the output of `ps`, which shows arguments to every user of the machine.
enum PasswordArgument {
    /// Restarts the program with the password in `PGPASSWORD`, which only its own user can read.
    ///
    /// Returns when the arguments contain no password.
    static func hide() {
        guard let (arguments, password) = moved(from: CommandLine.arguments) else { return }
        // Without /proc the program continues with its original arguments.
        guard let program = OwnProcess.program else { return }
        setenv("PGPASSWORD", password, 1)
        OwnProcess.replace(by: program, arguments)
    }

    /// The arguments without a database's password, and the password; nil when they contain none.
    static func moved(from arguments: [String]) -> (arguments: [String], password: String)? {
        var (moved, password) = (arguments, String?.none)
        for (index, argument) in arguments.enumerated() {
            let prefix = argument.hasPrefix("--postgres-url=") ? "--postgres-url=" : ""
            guard !prefix.isEmpty || index > 0 && arguments[index - 1] == "--postgres-url" else { continue }
            let url = String(argument.dropFirst(prefix.count))
            guard let said = try? ConnectionKeywords.parse(url), let own = said["password"] else { continue }
            let bare = withoutPassword(url)
            // Keep a URL whose meaning would change without the password.
            guard (try? ConnectionKeywords.parse(bare)) == said.filter({ $0.key != "password" }) else { continue }
            moved[index] = prefix + bare
            password = own
        }
        return password.map { (moved, $0) }
    }

    /// The URI without the password after its user and among its parameters.
    private static func withoutPassword(_ url: String) -> String {
        let parts = url.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var address = String(parts.first ?? "")
        if let start = address.range(of: "://")?.upperBound,
            let end = address[start...].firstIndex(where: { $0 == "@" || $0 == "/" }), address[end] == "@",
            let colon = address[start..<end].firstIndex(of: ":")
        {
            address.removeSubrange(colon..<end)
        }
        guard parts.count > 1 else { return address }
        let parameters = parts[1].split(separator: "&").filter { !$0.hasPrefix("password=") }
        return parameters.isEmpty ? address : "\(address)?\(parameters.joined(separator: "&"))"
    }
}

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
