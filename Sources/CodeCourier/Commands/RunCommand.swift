// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Courier
import Glibc
import KafkaClient
import Logging
import Logs
import Providers
import ServiceLifecycle
import UnixSignals
import Verification

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Runs a worker until SIGTERM or Ctrl-C.",
        discussion: """
            Workers share the work: start as many as the request topic has partitions. A
            worker that is told to stop finishes or hands back what it holds within
            worker.drainTimeout. The policy is read again when its file changes and on
            SIGHUP; a faulty one is refused, and the one in force stays. The same holds for
            the files of secrets: the keys and what providers are called with.

              code-courier run --config courier.yaml --check
              code-courier run --config courier.yaml --check --connect
              code-courier run --config courier.yaml
              LOG_LEVEL=debug code-courier run --config courier.yaml

            --check connects to nothing: exit code 0 without a fault, 2 with one. With
            --connect it also asks PostgreSQL whether a worker could start: its version and
            clock, the migrations, and the keys, of which none may be missing that a live
            verification needs. It warns about topics: one that is missing, or one whose
            records carry their producers' times.

            Exit code 0 after a stop, 1 when it failed at work, 2 with one line a fault
            when it could not start, 70 when a part of it stalled, 128 and the signal at a
            second one. Next: code-courier request send, and docs/operators.md for the log
            lines that need action.
            """
    )

    @OptionGroup var options: ConfigurationOptions

    @Flag(help: "Only read configuration, secrets and policy, and report their faults.")
    var check = false

    @Flag(help: "With --check, connect to PostgreSQL too; nothing is written.")
    var connect = false

    func validate() throws {
        if connect && !check { throw ValidationError("--connect needs --check") }
    }

    func run() async throws {
        let environment = options.environment
        let configuration = try StartFailure.unwrap(
            CourierConfiguration.load(path: options.config, environment: environment)
        )
        let channels = configuration.providers.channels
        let policy = try StartFailure.unwrap(PolicyFile.load(path: configuration.policyPath, providers: channels))
        let warnings = configuration.warnings(environment: environment)
        if check {
            for warning in warnings { printError("warning: \(warning)") }
            if connect {
                try await checkDatabase(configuration)
                for warning in await configuration.kafka.topicWarnings() { printError("warning: \(warning)") }
            }
            return printOutput(["no faults"])
        }
        let logger = WorkerLog.start(configuration.log, environment: environment)
        let heartbeat: Heartbeat
        do {
            heartbeat = try Heartbeat(
                path: configuration.worker.healthPath,
                maxWait: Watchdog.lateness(lease: configuration.worker.lease),
                environment: environment,
                logger: logger
            )
        } catch {
            throw StartFailure.report(["worker.healthPath: \(error)"])
        }
        let worker: Worker
        do {
            // As PID 1 of a container, a process ignores every signal without a handler.
            for number in [SIGTERM, SIGINT] { signal(number) { _ in _exit(0) } }
            defer { for number in [SIGTERM, SIGINT] { signal(number, SIG_DFL) } }
            worker = try await Worker.start(telling: heartbeat, policyVersion: policy.version, logger: logger) {
                try await Worker(
                    configuration,
                    policy: policy,
                    observe: CrashPoint.observer(environment),
                    logger: logger
                )
            }
        } catch let failure as Worker.StartError {
            heartbeat.end()
            throw StartFailure.report([failure])
        }
        let reloads = reloads(configuration, environment, worker, heartbeat, logger)
        // Before this line a signal ends the process at once; after the start is logged, an operator expects an orderly
        // end.
        let signals = await UnixSignalsSequence(trapping: Worker.endingSignals)
        logger.log(
            .workerStarted,
            [
                .version: .text(Version.text), .librdkafka: .text(librdkafkaVersion),
                .policyVersion: .text(policy.version),
                .fileDescriptors: LogValue(FileDescriptors.raiseLimit() ?? 0),
            ]
        )
        for warning in warnings { warning.write(to: logger) }
        logger.log(.policyLoaded, [.policyVersion: .text(policy.version)])
        do {
            try await worker.run(with: reloads, heartbeat: heartbeat, until: signals, logger: logger)
        } catch {
            logger.log(.workerFailed, (error as? KafkaError)?.logFields ?? [.error: LogValue(error)])
            throw ExitCode.failure
        }
        logger.log(.workerStopped)
    }

    private func checkDatabase(_ configuration: CourierConfiguration) async throws {
        do throws(DatabaseFault) {
            try await WorkerDatabase.check(configuration.postgres, keys: configuration.keys)
        } catch {
            throw StartFailure.report([error])
        }
    }

    /// The services that reload the policy and the secrets while the worker runs.
    private func reloads(
        _ configuration: CourierConfiguration,
        _ environment: [String: String],
        _ worker: Worker,
        _ heartbeat: Heartbeat,
        _ logger: Logger
    ) -> [Reload] {
        let policies = PolicyLoader(
            path: configuration.policyPath,
            providers: configuration.providers.channels,
            policies: worker.policies,
            faults: { await worker.faults(of: $0) },
            logger: logger
        )
        let secrets = SecretLoader(
            path: options.config,
            environment: environment,
            configuration: configuration,
            secrets: worker.secrets,
            joinFleet: { keys async throws(DatabaseFault) in try await worker.joinFleet(with: keys) },
            logger: logger
        )
        return [Reload(by: policies, heartbeat: heartbeat), Reload(by: secrets)]
    }
}
