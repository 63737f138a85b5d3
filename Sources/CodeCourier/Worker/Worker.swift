// SPDX-License-Identifier: Apache-2.0

import Courier
import Formats
import KafkaClient
import Ledger
import Logging
import Logs
import PhoneNumbers
import PostgresClient
import Providers
import ServiceLifecycle
import UnixSignals
import Verification

/// Assembles one worker from the configuration: connects its parts to the ports of the pipeline.
struct Worker {
    let policies: PolicySource
    let secrets: WorkerSecrets
    private let pipeline: Pipeline
    private let consumer: KafkaRecordSource
    private let receipts: KafkaRecordSource
    private let topicFaults: TopicFaults
    private let database: WorkerDatabase
    private let client: ProviderClient

    /// For reports to providers, which use no connection of a message.
    private let feedbackClient: ProviderClient
    private let feedback: FeedbackDesk
    private let settings: WorkerSettings
    private let brake = BrakeSource()
    private let shares = RouteShareSource(RouteShares())
    private let statistics = Statistics()
    private let statsInterval: Duration

    /// The reason why a worker cannot start, in one line that names the key.
    struct StartError: Error, CustomStringConvertible {
        let description: String

        /// True for an outage of the database, after which a retry may succeed.
        var isOutage = false
    }

    /// Connects to the database and checks it; Kafka may be unreachable at the start.
    ///
    /// `now` is the worker's clock, and `systemClock` the one that is compared with the database's: a test may set them
    /// wrong. `observe` is called at each step.
    init(
        _ configuration: CourierConfiguration,
        policy: Policy,
        now: @escaping @Sendable () -> Timestamp = { .now },
        systemClock: @escaping @Sendable () -> Timestamp = { .now },
        observe: @escaping Step.Observer = { _ in },
        logger: Logger
    ) async throws {
        let settings = configuration.worker
        let client = ProviderClient(maximumConnections: settings.maxInFlight)
        let feedbackClient = ProviderClient(maximumConnections: FeedbackDesk.concurrency)
        let secrets = WorkerSecrets(
            configuration,
            makeProvider: { $0.configuration.provider(client: client, logger: logger) },
            makeFeedback: { $0.configuration.feedback(client: feedbackClient) }
        )
        do {
            database = try await WorkerDatabase(
                configuration.postgres,
                keys: secrets.keys,
                settings: settings,
                clock: systemClock,
                logger: logger
            )
        } catch {
            await client.shutdown()
            throw StartError(description: "\(error)", isOutage: error.isOutage)
        }
        let faults = await database.timeZoneFaults(of: policy)
        if !faults.isEmpty {
            await database.close()
            await client.shutdown()
            throw StartError(description: "policy: \(faults.joined(separator: "; "))")
        }
        topicFaults = TopicFaults(logger: logger)
        policies = PolicySource(policy)
        do {
            let (kafka, topics) = (configuration.kafka, configuration.kafka.topics)
            consumer = try kafka.source(topics.requests, as: .requests, topicFaults, statistics, logger)
            receipts = try kafka.source(topics.receipts, "-receipts", as: .receipts, topicFaults, statistics, logger)
            pipeline = Pipeline(
                parts: Pipeline.Parts(
                    source: consumer,
                    receipts: receipts,
                    sink: try Self.sink(configuration.kafka, topicFaults),
                    ledger: database.ledger,
                    providers: secrets.providers,
                    limits: configuration.providers.rates,
                    executor: client.executor,
                    rates: database.ledger,
                    numbers: PhoneNumberDirectory(),
                    keys: secrets.keys,
                    policies: policies,
                    brake: brake,
                    shares: shares,
                    budgets: database.ledger,
                    receiptSecrets: secrets.receipts
                ),
                settings: settings,
                now: now,
                observe: observe,
                statistics: statistics,
                logger: logger
            )
        } catch {
            await database.close()
            await client.shutdown()
            throw StartError(description: KafkaFault(error, key: "kafka.options").description)
        }
        self.client = client
        self.feedbackClient = feedbackClient
        feedback = FeedbackDesk(
            secrets.feedback,
            deadline: settings.callDeadline,
            statistics: statistics,
            logger: logger
        )
        self.secrets = secrets
        self.settings = settings
        statsInterval = configuration.log.statsInterval
    }

    /// Registers new keys; throws a `DatabaseFault` if the fleet has others under their ids, or live rows need others.
    func joinFleet(with keys: CodeKeys) async throws(DatabaseFault) {
        try await database.joinFleet(with: keys)
    }

    /// The faults of a policy that only the database shows.
    func faults(of policy: Policy) async -> [String] { await database.timeZoneFaults(of: policy) }

    /// The signals that end a worker: gracefully at the first one, at once at the second.
    static let endingSignals: [UnixSignal] = [.sigterm, .sigint]

    /// Runs until a signal, then drains; other workers take over the unfinished sends.
    func run(
        with others: [any Service] = [],
        heartbeat: Heartbeat? = nil,
        until signals: UnixSignalsSequence,
        logger: Logger
    ) async throws {
        let ending = Ending(drainTimeout: settings.drainTimeout, heartbeat: heartbeat, logger: logger)
        var configuration = ServiceGroupConfiguration(
            services: ([ending] + others + [watchdog(heartbeat, logger), report(logger), clockWatch(logger)]
                + brakeServices(logger) + pipeline.services).map {
                    .init(
                        service: $0,
                        successTerminationBehavior: .gracefullyShutdownGroup,
                        failureTerminationBehavior: .gracefullyShutdownGroup
                    )
                },
            logger: logger.quieter
        )
        configuration.maximumGracefulShutdownDuration = settings.drainTimeout - ending.reserve
        let group = ServiceGroup(configuration: configuration)
        let outcome = await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await ending.serve(signals) }
            defer { tasks.cancelAll() }
            do {
                return Result<Void, any Error>.success(try await group.run())
            } catch is CancellationError {
                // The drain timeout has passed: other workers take over the remaining sends.
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        await client.shutdown()
        await feedbackClient.shutdown()
        await database.close()
        heartbeat?.end()
        try outcome.get()
    }

    private func report(_ logger: Logger) -> StatisticsReport {
        StatisticsReport(
            statistics,
            of: pipeline,
            gauges: .init(lag: { await consumer.lag() }, faults: { topicFaults.all() }, backlog: database.ledger),
            every: statsInterval,
            logger: logger
        )
    }

    private func clockWatch(_ logger: Logger) -> ClockWatch {
        ClockWatch(pipeline, start: database.lead, lead: { await database.currentLead() }, logger: logger)
    }

    /// The toll-fraud brake and adaptive routes: their judge, of which one in the fleet is at work, and the way of its
    /// results to this worker.
    private func brakeServices(_ logger: Logger) -> [any Service] {
        let isOutage: @Sendable () -> Bool = { [pipeline] in !pipeline.isDatabaseAnswering }
        return [
            feedback,
            ConversionReader(
                ledger: database.ledger,
                routes: database.ledger,
                policies: policies,
                logger: logger,
                feedback: (database.ledger, feedback),
                isOutage: isOutage
            ),
            BrakeWatch(ledger: database.ledger, source: brake, logger: logger, isOutage: isOutage),
            RouteWatch(
                ledger: database.ledger,
                policies: policies,
                source: shares,
                logger: logger,
                isOutage: isOutage
            ),
        ]
    }

    private func watchdog(_ heartbeat: Heartbeat?, _ logger: Logger) -> Watchdog {
        Watchdog(
            pulses: {
                var pulses = ["consumer": consumer.pulse, "receipt_consumer": receipts.pulse].compactMapValues(\.self)
                for (stage, steps) in pipeline.progress.atWork { pulses[stage.rawValue] = steps }
                return pulses
            },
            maxWait: Watchdog.lateness(lease: settings.lease) + 15,
            onLook: { standing in
                heartbeat?.observe(
                    standing: standing,
                    waitingFor: waitingFor,
                    topicFaults: topicFaults.all().map(\.sentence),
                    deadProviders: pipeline.deadRoutes.causes,
                    policyVersion: policies.current.version
                )
            },
            onStall: { stalled in
                logger.log(.workerStalled, [.stalled: .text(stalled.joined(separator: ","))])
                endProcess(70)
            }
        )
    }

    /// The needs that are not met.
    private var waitingFor: [WorkerState.Need] {
        // A consumer with an unreadable topic never becomes a member: the topic fault is reported instead.
        let isMember = consumer.isMember && receipts.isMember || topicFaults.all().contains { $0.use == .read }
        return (isMember ? [] : [.kafka]) + (pipeline.isDatabaseAnswering ? [] : [.postgres])
            + (pipeline.isHeld ? [.clock] : [])
    }

    private static func sink(_ kafka: KafkaSettings, _ faults: TopicFaults) throws(KafkaError) -> KafkaRecordSink {
        KafkaRecordSink(
            producer: try KafkaProducer(configuration: kafka.client),
            deliveries: kafka.topics.deliveries,
            deadLetters: kafka.topics.deadLetters,
            faults: faults
        )
    }
}

extension KafkaSettings {
    /// Creates the consumer of a topic, whose group has this suffix: with a group of its own, a rebalance of one topic
    /// does not affect the other.
    fileprivate func source(
        _ topic: String,
        _ suffix: String = "",
        as events: LoggedEvent.Consumer,
        _ faults: TopicFaults,
        _ statistics: Statistics,
        _ logger: Logger
    ) throws(KafkaError) -> KafkaRecordSource {
        KafkaRecordSource(
            consumer: try KafkaConsumer(configuration: client, groupID: groupID + suffix, topics: [topic]),
            topic: topic,
            faults: faults,
            events: events,
            statistics: statistics,
            logger: logger
        )
    }

    /// The client's configuration, the only place where the secrets are revealed.
    var client: KafkaConfiguration {
        KafkaConfiguration(bootstrapServers: bootstrapServers, options: options.mapValues(\.revealed))
    }
}

extension Logger {
    /// A logger for libraries, whose messages matter from warnings up.
    fileprivate var quieter: Logger {
        var logger = self
        logger.logLevel = max(logLevel, .warning)
        return logger
    }
}
