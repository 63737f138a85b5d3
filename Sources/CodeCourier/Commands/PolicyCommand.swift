// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

/// Examines policies before they are in force.
struct PolicyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy",
        abstract: "Checks a policy, explains its decisions and replays the past against it.",
        subcommands: [PolicyCheckCommand.self, PolicyExplainCommand.self, PolicySimulateCommand.self]
    )

    /// Lines on standard output.
    static func write(_ lines: [String]) {
        write(Array((lines.joined(separator: "\n")).utf8))
    }

    /// One document on standard output, its line ended.
    static func write(_ bytes: [UInt8]) {
        FileHandle.standardOutput.write(Data(bytes + [UInt8(ascii: "\n")]))
    }
}
