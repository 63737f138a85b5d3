// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SettingsReading

/// The command names of a call, which may be mistyped.
enum CommandNames {
    /// Throws for an unknown command, also after `help`.
    ///
    /// The parser would only count the unexpected arguments, or show the help of the parent command.
    static func check(_ arguments: [String], root: any ParsableCommand.Type = CodeCourier.self) throws {
        let isHelp = arguments.first == "help"
        let names =
            isHelp
            ? arguments.dropFirst().filter { !$0.hasPrefix("-") }
            : Array(arguments.prefix { !$0.hasPrefix("-") })
        var (command, path): (any ParsableCommand.Type, [String]) = (root, [root._commandName])
        for name in names {
            let known = command.configuration.subcommands
            // The other words of a call are the command's arguments.
            if known.isEmpty, !isHelp { return }
            guard let next = known.first(where: { $0._commandName == name }) else {
                throw ValidationError(unknown(name, among: known.map { $0._commandName }, path))
            }
            command = next
            path.append(name)
        }
    }

    private static func unknown(_ name: String, among known: [String], _ path: [String]) -> String {
        let parent = path.joined(separator: " ")
        guard !known.isEmpty else { return "\(parent) has no commands below it: code-courier help shows all" }
        let advice = NearestKey.of(name, among: known).map { "did you mean \($0)?" }
        return
            "\(parent) has no command \(name.prefix(40)); \(advice ?? "its commands are \(known.joined(separator: ", "))")"
    }
}

/// An option's value that is one of a few words.
enum ChoiceArgument {
    /// The choice that the text names; throws for any other text, with the nearest choice or all of them.
    static func value<Choice: RawRepresentable & CaseIterable>(_ text: String, of option: String) throws -> Choice
    where Choice.RawValue == String {
        if let choice = Choice(rawValue: text) { return choice }
        let known = Choice.allCases.map(\.rawValue)
        let nearest = NearestKey.of(text, among: known).map { "; did you mean \($0)?" } ?? ""
        throw ValidationError("\(option) must be one of \(known.joined(separator: ", "))\(nearest)")
    }
}
