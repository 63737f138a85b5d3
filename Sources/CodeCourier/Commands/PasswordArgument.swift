// SPDX-License-Identifier: Apache-2.0

import Foundation
import PostgresClient

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
