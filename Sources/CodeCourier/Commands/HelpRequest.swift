// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SettingsReading

/// A call of `code-courier help` with a command name that may be mistyped.
enum HelpRequest {
    /// Throws for an unknown command after `help`; the parser would show the help of the parent command.
    static func check(_ arguments: [String], root: any ParsableCommand.Type = CodeCourier.self) throws {
        guard arguments.first == "help" else { return }
        var (command, path): (any ParsableCommand.Type, [String]) = (root, [root._commandName])
        for name in arguments.dropFirst() where !name.hasPrefix("-") {
            let known = command.configuration.subcommands
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
