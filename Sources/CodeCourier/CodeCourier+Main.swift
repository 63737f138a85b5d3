// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

extension CodeCourier {
    /// Runs the command in the arguments and ends the process.
    static func main() async {
        PasswordArgument.hide()
        FileDescriptors.raiseLimit()
        endProcess(await runCommand())
    }

    /// Runs the command and prints its errors, as the parser's own `main` does.
    private static func runCommand() async -> Int32 {
        // Standard output is buffered, and `_exit` does not flush it.
        defer { fflush(nil) }
        do {
            try CommandNames.check(Array(CommandLine.arguments.dropFirst()))
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            return ExitCode.success.rawValue
        } catch {
            let (code, text) = (exitCode(for: error), fullMessage(for: error))
            // An `ExitCode` has no text: its cause has already been printed.
            guard !text.isEmpty else { return code.rawValue }
            if code.isSuccess { print(text) } else { printError(text) }
            return code.rawValue
        }
    }
}

/// Ends the process without running exit handlers.
///
/// A normal exit runs the handlers of C libraries, such as OpenSSL's clean-up, while other threads may still be closing
/// the connections that use them.
func endProcess(_ code: Int32) -> Never {
    _exit(code)
}

/// The running program, and its replacement by another one in the same process.
enum OwnProcess {
    /// The path of the program's file; nil without /proc.
    static var program: String? { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") }

    /// Replaces the program; returns only when that is impossible.
    ///
    /// `arguments` begin with the name of the new program.
    static func replace(by program: String, _ arguments: [String]) {
        // SAFETY: the array ends with nil; its strings live until the program is replaced, and leak if that fails.
        var pointers = unsafe arguments.map { unsafe strdup($0) } + [nil]
        unsafe execv(program, &pointers)
    }
}
