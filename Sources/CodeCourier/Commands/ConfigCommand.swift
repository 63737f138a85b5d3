// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Shows the configuration in force and where each value comes from.",
        subcommands: [ConfigShowCommand.self]
    )
}

struct ConfigShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows each setting with its value and its source; secrets are hidden.",
        discussion: """
            The source is a line of the file, a variable of the environment, or the
            default. It is the environment of this command: run it as the worker is run.
            No secret is read. Values that may hold one are hidden: headers, answers and
            bodies of http providers, SASL and TLS, and URLs with parameters.

              code-courier config show --config courier.yaml
              code-courier config show --config courier.yaml --json

            Exit code 2 for a file with a fault; code-courier run --check finds them all.
            """
    )

    @OptionGroup var options: ConfigurationOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let listing = try options.read { source -> ConfigurationListing? in
            // A faulty value may be a secret under a wrong key: then the faults are shown, and no value.
            var settings = Settings()
            for setting in Setting.declared { setting.read(source, &settings) }
            return ConfigurationListing(source)
        }
        if json { printOutput(listing.json) } else { printOutput(listing.lines) }
    }
}
