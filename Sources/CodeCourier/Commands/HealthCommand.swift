// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

struct HealthCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health",
        abstract: "Checks whether a running worker makes progress and can do its work, for probes.",
        discussion: """
            Exit code 0 when it does, 1 when it does not; one line says why, JSON on a
            pipe. It reads the file worker.healthPath (WORKER_HEALTH_PATH), which the
            worker replaces every second; a file older than 15 s means a dead worker.

              --live   the worker makes progress; otherwise it needs a restart
              --ready  it has also joined its groups, and the database answers

            Without either, both are checked. A worker that cannot reach Kafka or
            PostgreSQL is live but not ready: a restart would not help it.

              code-courier health --live
              code-courier health --path /run/code-courier/health
            """
    )

    @Flag(help: "Check only whether the worker makes progress.")
    var live = false

    @Flag(help: "Check whether the worker can do its work.")
    var ready = false

    @Option(help: "The worker's health file; default: worker.healthPath of the configuration.")
    var path: String?

    @OptionGroup var options: ConfigurationOptions

    func validate() throws {
        guard !(live && ready) else { throw ValidationError("give --live or --ready, or neither") }
    }

    func run() throws {
        let path =
            try path
            ?? StartFailure.unwrap(
                CourierConfiguration.loadHealthPath(path: options.config, environment: options.environment)
            )
        let verdict = HealthFile(path: path).verdict(at: .now)
        if isatty(STDOUT_FILENO) == 1 {
            print(verdict.text)
        } else {
            printOutput(verdict.json())
        }
        guard live ? verdict.isLive : verdict.isReady else { throw ExitCode(1) }
    }
}
