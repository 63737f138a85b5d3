// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

extension CodeCourier {
    /// Runs the command that the arguments name and ends the process.
    static func main() async {
        PasswordArgument.hide()
        FileDescriptors.raiseLimit()
        endProcess(await runCommand())
    }

    /// Runs the command and says what was wrong, as the parser's own `main` does.
    private static func runCommand() async -> Int32 {
        // What was printed is still in a buffer.
        defer { fflush(nil) }
        do {
            try HelpRequest.check(Array(CommandLine.arguments.dropFirst()))
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            return ExitCode.success.rawValue
        } catch {
            let (code, text) = (exitCode(for: error), fullMessage(for: error))
            // An error that is only a code has been explained already.
            guard !text.isEmpty else { return code.rawValue }
            if code.isSuccess { print(text) } else { printError(text) }
            return code.rawValue
        }
    }
}

/// Ends the process without running anything else.
///
/// An ordinary exit runs what C libraries have registered for it, such as OpenSSL's clean-up, while other threads may
/// still be closing the connections that use them.
func endProcess(_ code: Int32) -> Never {
    _exit(code)
}
