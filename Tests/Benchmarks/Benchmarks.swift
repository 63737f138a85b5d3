// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The parts of `make bench` that must have little overhead themselves.
@main
struct Benchmarks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "benchmarks",
        abstract: "Parts of the benchmark; `make bench` runs them all.",
        subcommands: [ProviderCommand.self, CeilingCommand.self, MicroCommand.self]
    )
}

struct ProviderCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "provider",
        abstract: "A provider that takes every message at once; prints its port."
    )

    func run() throws {
        try BenchmarkProvider.run()
    }
}
