// SPDX-License-Identifier: Apache-2.0

import Glibc
package import Logging
import Logs
import ServiceLifecycle
package import Verification

/// Writes `worker.stats`, at the end of each interval and once more when the worker stops.
package struct StatisticsReport: Service {
    private let statistics: Statistics
    private let pipeline: Pipeline
    private let gauges: Gauges
    private let interval: Duration
    private let logger: Logger

    /// Gauges outside the pipeline, read once an interval.
    package struct Gauges: Sendable {
        let lag: @Sendable () async -> Lag
        let faults: @Sendable () -> [TopicFaults.Fault]
        let backlog: any BacklogGauge

        package init(
            lag: @escaping @Sendable () async -> Lag,
            faults: @escaping @Sendable () -> [TopicFaults.Fault] = { [] },
            backlog: any BacklogGauge
        ) {
            self.lag = lag
            self.faults = faults
            self.backlog = backlog
        }
    }

    package init(
        _ statistics: Statistics,
        of pipeline: Pipeline,
        gauges: Gauges,
        every interval: Duration,
        logger: Logger
    ) {
        self.statistics = statistics
        self.pipeline = pipeline
        self.gauges = gauges
        self.interval = interval
        self.logger = logger
    }

    private struct Moment {
        var time = ContinuousClock.now
        var processor = ProcessFigures.processorTime
    }

    package func run() async throws {
        guard logger.logLevel <= .info else { return await waitForShutdown() }
        let start = Moment()
        var last = start
        while true {
            let end = last.time + interval
            // A stop ends the pause, and the rest of the interval is reported at once.
            await Task.pause(until: end)
            let isLast = Task.isStopping
            // Skip the query at a stop: an unreachable database must not delay it.
            let backlog = isLast ? nil : try? await gauges.backlog.backlog()
            let lag = await gauges.lag()
            let now = Moment()
            let line = StatisticsLine(
                interval: now.time - last.time,
                uptime: now.time - start.time,
                counts: statistics.take(),
                load: pipeline.load,
                backlog: backlog,
                lag: lag,
                faults: gauges.faults(),
                processorTime: now.processor - last.processor
            )
            logger.log(.workerStats, line.fields)
            if isLast { return }
            last = now
        }
    }
}

enum ProcessFigures {
    static var processorTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// Resident memory in bytes; 0 where the system does not provide it.
    static var residentBytes: Int {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 128)
        let count = fread(&buffer, 1, buffer.count, file)
        let words = buffer.prefix(count).split(separator: UInt8(ascii: " "))
        guard words.count > 1, let pages = Int(String(decoding: words[1], as: UTF8.self)) else { return 0 }
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}
