// SPDX-License-Identifier: Apache-2.0

import Courier
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

/// One worker: where the parts of the configuration meet the ports of the pipeline.
struct Worker {
    let policies: PolicySource
    let secrets: WorkerSecrets
    private let courier: Courier
    private let consumer: KafkaRecordSource
    private let receipts: KafkaRecordSource
    private let topicFaults: TopicFaults
    private let database: WorkerDatabase
    private let client: ProviderClient
    private let drainTimeout: Duration
    private let statistics = Statistics()
    private let statsInterval: Duration
    private let lease: Duration

    /// What keeps a worker from starting, in one line that names the key.
    struct StartError: Error, CustomStringConvertible {
        let description: String

        /// True where the database was away, and may be there at the next try.
        var isOutage = false
    }

    /// Connects to the database and checks it; Kafka may be away at the start.
    ///
    /// `now` is the worker's clock, and `systemClock` the one that is compared with the database's: a test may set them
    /// wrong. `observe` is told of each step.
    init(
        _ configuration: CourierConfiguration,
        policy: Policy,
        now: @escaping @Sendable () -> Timestamp = { .now },
        systemClock: @escaping @Sendable () -> Timestamp = { .now },
        observe: @escaping Step.Observer = { _ in },
        logger: Logger
    ) async throws {
        let settings = CourierSettings(configuration.worker, now: now, observe: observe)
        let client = ProviderClient(maximumConnections: settings.maxInFlight)
        let secrets = WorkerSecrets(configuration) { $0.provider(client: client, logger: logger) }
        do {
            database = try await WorkerDatabase(
                configuration.postgres,
                cell: settings.cell,
                keys: secrets.keys,
                settings: .init(
                    source: settings.decision.source,
                    lease: settings.lease,
                    sweepSize: Int32(clamping: settings.batchSize),
                    repeatsUnknown: settings.repeatsUnknown,
                    receiptGrace: configuration.worker.receiptGrace,
                    retention: configuration.postgres.retention
                ),
                clock: systemClock,
                logger: logger
            )
        } catch {
            await client.shutdown()
            throw StartError(description: "\(error)", isOutage: error.isOutage)
        }
        topicFaults = TopicFaults(logger: logger)
        policies = PolicySource(policy)
        do {
            consumer = try Self.requests(configuration.kafka, topicFaults, statistics, logger)
            receipts = try Self.receipts(configuration.kafka, topicFaults, statistics, logger)
            courier = Courier(
                parts: Courier.Parts(
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
                    receiptSecrets: secrets.receipts
                ),
                settings: settings,
                statistics: statistics,
                workerID: WorkerLog.workerID,
                logger: logger
            )
        } catch {
            await database.close()
            await client.shutdown()
            throw StartError(description: KafkaFault(error, key: "kafka.options").description)
        }
        self.client = client
        self.secrets = secrets
        drainTimeout = configuration.worker.drainTimeout
        statsInterval = configuration.log.statsInterval
        lease = settings.lease
    }

    /// Throws a `DatabaseFault` unless these are the fleet's keys, or new ones, which it has from now on.
    func joinFleet(with keys: CodeKeys) async throws(DatabaseFault) {
        try await database.joinFleet(with: keys)
    }

    /// What a worker ends by: in order at the first one, at once at the second.
    static let endingSignals: [UnixSignal] = [.sigterm, .sigint]

    /// Runs until a signal, then drains; what is not done by then is left to other workers.
    func run(
        with others: [any Service] = [],
        heartbeat: Heartbeat? = nil,
        until signals: UnixSignalsSequence,
        logger: Logger
    ) async throws {
        let ending = Ending(drainTimeout: drainTimeout, heartbeat: heartbeat, logger: logger)
        var configuration = ServiceGroupConfiguration(
            services: ([ending] + others + [watchdog(heartbeat, logger), report(logger), clockWatch(logger)]
                + courier.services).map {
                    .init(
                        service: $0,
                        successTerminationBehavior: .gracefullyShutdownGroup,
                        failureTerminationBehavior: .gracefullyShutdownGroup
                    )
                },
            logger: logger.quieter
        )
        configuration.maximumGracefulShutdownDuration = drainTimeout - ending.reserve
        let group = ServiceGroup(configuration: configuration)
        let outcome = await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await ending.serve(signals) }
            defer { tasks.cancelAll() }
            do {
                return Result<Void, any Error>.success(try await group.run())
            } catch is CancellationError {
                // The time to drain was over: what is left belongs to other workers.
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        await client.shutdown()
        await database.close()
        heartbeat?.end()
        try outcome.get()
    }

    private func report(_ logger: Logger) -> StatisticsReport {
        StatisticsReport(
            statistics,
            of: courier,
            gauges: .init(lag: { await consumer.lag() }, faults: { topicFaults.all() }, backlog: database.ledger),
            every: statsInterval,
            logger: logger
        )
    }

    private func clockWatch(_ logger: Logger) -> ClockWatch {
        ClockWatch(courier, start: database.lead, lead: { await database.currentLead() }, logger: logger)
    }

    private func watchdog(_ heartbeat: Heartbeat?, _ logger: Logger) -> Watchdog {
        Watchdog(
            pulses: {
                var pulses = ["consumer": consumer.pulse, "receipt_consumer": receipts.pulse].compactMapValues(\.self)
                for (stage, steps) in courier.progress.atWork { pulses[stage.rawValue] = steps }
                return pulses
            },
            patience: Watchdog.lateness(lease: lease) + 15,
            onLook: { standing in
                heartbeat?.look(
                    standing: standing,
                    waitingFor: waitingFor,
                    topicFaults: topicFaults.all().map(\.sentence),
                    policyVersion: policies.current.version
                )
            },
            onStall: { stalled in
                logger.log(
                    .workerStalled,
                    [.workerID: .text(WorkerLog.workerID), .stalled: .text(stalled.joined(separator: ","))]
                )
                endProcess(70)
            }
        )
    }

    /// What is missing for the worker to do its work.
    private var waitingFor: [WorkerState.Need] {
        // Who cannot read a topic may not become a member: that is told by the topic.
        let isMember = consumer.isMember && receipts.isMember || topicFaults.all().contains { $0.use == .read }
        return (isMember ? [] : [.kafka]) + (courier.isDatabaseAnswering ? [] : [.postgres])
            + (courier.isHeld ? [.clock] : [])
    }

    private static func requests(
        _ kafka: KafkaSettings,
        _ faults: TopicFaults,
        _ statistics: Statistics,
        _ logger: Logger
    ) throws(KafkaError) -> KafkaRecordSource {
        let consumer = try KafkaConsumer(
            configuration: kafka.client,
            groupID: kafka.groupID,
            topics: [kafka.topics.requests]
        )
        return KafkaRecordSource(
            consumer: consumer,
            topic: kafka.topics.requests,
            faults: faults,
            events: .requests,
            statistics: statistics,
            logger: logger
        )
    }

    /// Receipts have a group of their own: a rebalance of one topic is none of the other's business.
    private static func receipts(
        _ kafka: KafkaSettings,
        _ faults: TopicFaults,
        _ statistics: Statistics,
        _ logger: Logger
    ) throws(KafkaError) -> KafkaRecordSource {
        let consumer = try KafkaConsumer(
            configuration: kafka.client,
            groupID: "\(kafka.groupID)-receipts",
            topics: [kafka.topics.receipts]
        )
        return KafkaRecordSource(
            consumer: consumer,
            topic: kafka.topics.receipts,
            faults: faults,
            events: .receipts,
            statistics: statistics,
            logger: logger
        )
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

extension CourierSettings {
    fileprivate init(
        _ worker: WorkerSettings,
        now: @escaping @Sendable () -> Timestamp,
        observe: @escaping Step.Observer
    ) {
        self.init(
            decision: .init(source: "/code-courier", maxRequestAge: worker.maxRequestAge),
            cell: worker.cell,
            maxInFlight: worker.maxInFlight,
            batchSize: worker.batchSize,
            lease: worker.lease,
            callDeadline: worker.callDeadline,
            repeatsUnknown: worker.unknownOutcome == .resendOnce,
            now: now,
            observe: observe
        )
    }
}

extension KafkaSettings {
    /// The client's configuration, secrets revealed to it alone.
    var client: KafkaConfiguration {
        KafkaConfiguration(bootstrapServers: bootstrapServers, options: options.mapValues(\.revealed))
    }
}

extension Logger {
    /// For libraries whose own words are of interest only when something goes wrong.
    fileprivate var quieter: Logger {
        var logger = self
        logger.logLevel = max(logLevel, .warning)
        return logger
    }
}
