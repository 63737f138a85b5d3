// SPDX-License-Identifier: Apache-2.0

import Formats
import Logging
import Logs
import Verification

/// The work of the fleet's reader, one round at a time: it reads conversions, judges them, and stores the blocks.
///
/// A verification is read 3 s after it began and again when it comes to each age of `ApprovalCurve`. What its database
/// has not committed after 3 s is found at the next age. A reader that takes over begins an age earlier with each
/// position, and reads the rest of the hour backwards, a part in each round, while it judges.
struct ConversionReading {
    /// The time after which another worker takes over: two rounds may be lost.
    static let lease = Duration.seconds(6)

    /// The time that one statement reads.
    private static let slice = Duration.seconds(10)

    /// The slices of the hour before a takeover that one round reads.
    static let olderSlices = 30
    fileprivate static let storeInterval = Duration.seconds(60)
    private static let learnInterval = Duration.seconds(600)

    /// The time between two judgements of silent providers.
    private static let silenceInterval = Duration.seconds(5)

    /// The number of failed rounds in a row after which a reader resigns; it then stays out for as many rounds.
    static let patience = 10

    /// The end of a turn: another worker has become the reader.
    struct Lost: Error {}

    /// The state between two rounds while this worker is the reader.
    ///
    /// A class, so that nothing copies the brakes.
    final class Turn {
        let reader: UUIDValue
        var brakes: TenantBrakes
        var routes: TenantRoutes

        /// The times up to which verifications were read: at their first age, then at each later one.
        var positions: [Timestamp]

        /// The time up to which verifications were judged; nil before the first judgement.
        var judgedTo: Timestamp?

        /// The start of the verifications to count; earlier ones are in the stored counts already.
        let countedFrom: Timestamp

        /// The time up to which verifications are in the stored counts, as this reader knows; nil if there are none.
        var countedTo: Timestamp?

        /// The beginning of the hour before the takeover.
        let oldest: Timestamp
        var launches = LaunchCounts()
        var unstored: [BrakeTurn: TenantBlock] = [:]
        var storesAt: Timestamp
        var learnsAt: Timestamp
        var sharesAt: Timestamp
        var silencesAt: Timestamp
        var renewedAt: ContinuousClock.Instant

        init(
            _ reader: UUIDValue,
            _ elected: ReaderTurn,
            _ blocks: [TenantBlock],
            _ shares: RouteShares,
            maximumSize: Int,
            at now: Timestamp,
            renewedAt: ContinuousClock.Instant
        ) {
            let start = now - (ApprovalCurve.ages.last ?? .zero)
            self.reader = reader
            brakes = TenantBrakes(blocks, from: start, maximumSize: maximumSize)
            routes = TenantRoutes(shares)
            positions = ApprovalCurve.ages.map { now - $0 } + [start]
            oldest = now - Brake.window
            countedFrom = max(oldest, elected.countedTo ?? oldest)
            countedTo = elected.countedTo
            storesAt = now + ConversionReading.storeInterval
            learnsAt = now
            sharesAt = now
            silencesAt = now
            self.renewedAt = renewedAt
        }

        deinit { brakes.removeAll() }

        /// True while earlier verifications are to be read: those that nobody has counted, and as many as memory takes.
        var hasOlder: Bool {
            let start = brakes.readFrom
            return start > oldest && (start > countedFrom || !brakes.hasForgotten(before: start))
        }

        /// The launches that this reader has counted in full.
        var countedLaunches: [BrakeLaunch] {
            let start = hasOlder ? brakes.readFrom : Timestamp(microseconds: .min)
            return launches.launches(maturedTo: positions.last ?? oldest, readFrom: start)
        }
    }

    let ledger: any BrakeLedger

    /// The store of adaptive routes; nil if there are none.
    let routeLedger: (any RouteLedger)?
    let policies: PolicySource
    let logger: Logger
    private let maximumSize: Int

    /// Finds approved messages for the providers that want to know; nil if none does.
    private var feedback: FeedbackReading?
    private(set) var turn: Turn?
    private var notices = BrakeNotices()
    private var routeNotices = RouteNotices()
    private var failedRounds = 0
    private var roundsToSitOut = 0

    init(
        ledger: any BrakeLedger,
        routes routeLedger: (any RouteLedger)? = nil,
        policies: PolicySource,
        logger: Logger,
        feedback: FeedbackReading? = nil,
        maximumSize: Int = TenantBrakes.maximumSize
    ) {
        self.ledger = ledger
        self.routeLedger = routeLedger
        self.policies = policies
        self.logger = logger
        self.maximumSize = maximumSize
        self.feedback = feedback
    }

    /// Reads, judges and stores what has become due, if this worker is the reader or becomes it.
    ///
    /// If errors last, another worker becomes the reader, since the cause may be in this worker.
    mutating func round() async throws {
        guard roundsToSitOut == 0 else {
            roundsToSitOut -= 1
            return
        }
        let start = ContinuousClock.now
        do {
            try await work()
            failedRounds = 0
        } catch {
            // The database renewed the lease in this round, so the failure may be this worker's alone: count it.
            failedRounds = turn.map { $0.renewedAt >= start } == true ? failedRounds + 1 : 0
            if failedRounds >= Self.patience {
                (failedRounds, roundsToSitOut) = (0, Self.patience)
                try? await resign()
            }
            throw error
        }
    }

    private mutating func work() async throws {
        do {
            guard let (turn, now) = try await elect() else { return }
            for block in turn.brakes.follow(policies.current, at: now) {
                turn.unstored[block.turn] = block
                log(block)
            }
            try await learn(turn, at: now)
            turn.launches.follow(try await ledger.launches())
            try await learnRoutes(turn, at: now)
            try await read(turn, to: now)
            try await readOlder(turn)
            try await followOperators(turn, at: now)
            judge(turn, at: now)
            try await store(turn, at: now)
            try await share(turn, at: now)
            await readFeedback(turn, at: now)
        } catch is Lost {
            turn = nil
        }
    }

    /// Lets another worker take over at once.
    mutating func resign() async throws {
        guard let reader = turn?.reader else { return }
        turn = nil
        try await ledger.resign(reader)
    }

    /// Acquires or renews the reader's lease, and returns the database's time; nil while another worker is the reader.
    private mutating func elect() async throws -> (turn: Turn, now: Timestamp)? {
        var generator = SystemRandomNumberGenerator()
        let reader = turn?.reader ?? .version7(at: .now, using: &generator)
        let renewedAt = ContinuousClock.now
        let judgedTo = turn?.judgedTo
        guard let elected = try await ledger.elect(reader, lease: Self.lease, judgedTo: judgedTo) else {
            if turn != nil { throw Lost() }
            return nil
        }
        let now = Timestamp(milliseconds: elected.now.milliseconds)
        if let turn {
            turn.renewedAt = renewedAt
            return (turn, now)
        }
        let blocks = try await ledger.brakeBlocks()
        let shares = try await routeLedger?.routeShares() ?? RouteShares()
        let new = Turn(reader, elected, blocks, shares, maximumSize: maximumSize, at: now, renewedAt: renewedAt)
        notices.know(blocks)
        turn = new
        logger.log(.brakeReader)
        return (new, now)
    }

    /// Learns what is usual.
    ///
    /// A failure ends the round: without a history every tenant would seem to approve too little, so nothing is judged
    /// before the first success. Later what is known is good enough for a minute.
    private func learn(_ turn: Turn, at now: Timestamp) async throws {
        guard turn.brakes.needsHistory || turn.learnsAt <= now else { return }
        turn.learnsAt = now + Self.storeInterval
        let counts = try await ledger.conversionHours(since: (now - ConversionHistory.span).hour)
        turn.brakes.learn(counts, at: now)
        turn.learnsAt = now + Self.learnInterval
    }

    /// Follows the policy's adaptive routes; takes the stored evidence once there are any.
    private func learnRoutes(_ turn: Turn, at now: Timestamp) async throws {
        turn.routes.follow(policies.current)
        guard let routeLedger, !turn.routes.isEmpty, !turn.routes.isLearned else { return }
        turn.routes.learn(try await routeLedger.routeHours(since: (now - RouteEvidence.span).hour))
    }

    /// Reads the oldest verifications first, so that each is read in the order of its ages.
    private mutating func read(_ turn: Turn, to now: Timestamp) async throws {
        for index in ApprovalCurve.readings.indices.reversed() {
            let end = now - ApprovalCurve.readings[index]
            let age = index == 0 ? nil : index - 1
            while turn.positions[index] < end {
                // After a long outage, the oldest verifications have left the window.
                let start = max(turn.positions[index], now - Brake.window)
                let next = min(end, start + Self.slice)
                let samples = try await ledger.conversions(from: start, to: next)
                turn.brakes.read(samples, age: age, countedFrom: turn.countedFrom)
                turn.launches.read(samples, isLast: age == ApprovalCurve.ages.indices.last)
                turn.routes.read(samples, age: age, by: turn.brakes)
                turn.positions[index] = next
                try await keepLease(turn)
            }
        }
    }

    /// Reads a part of the hour before the takeover, the youngest verifications first: what matters most is judged first,
    /// and of a busy hour no more is read than memory takes.
    private mutating func readOlder(_ turn: Turn) async throws {
        for _ in 0..<Self.olderSlices where turn.hasOlder {
            let end = turn.brakes.readFrom
            let start = max(turn.oldest, end - Self.slice)
            let samples = try await ledger.conversions(from: start, to: end)
            turn.brakes.readOlder(samples, from: start, countedFrom: turn.countedFrom)
            turn.routes.read(samples, age: ApprovalCurve.ages.indices.last, by: turn.brakes)
            turn.launches.read(samples, isLast: true)
            try await keepLease(turn)
        }
    }

    /// A takeover's rounds may be longer than the lease.
    private mutating func keepLease(_ turn: Turn) async throws {
        if ContinuousClock.now - turn.renewedAt >= Self.lease / 3 { _ = try await elect() }
    }

    private mutating func followOperators(_ turn: Turn, at now: Timestamp) async throws {
        let stored = try await ledger.blocksInForce()
        for block in turn.brakes.follow(stored, except: Set(turn.unstored.keys), at: now) { log(block) }
    }

    private mutating func judge(_ turn: Turn, at now: Timestamp) {
        let judgement = turn.brakes.judge(at: now)
        turn.judgedTo = turn.positions.first
        for block in judgement.changed {
            turn.unstored[block.turn] = block
            guard log(block), block.isAsleep, block.block.state == .blocked,
                notices.isDue(.asleep(block.tenant), at: now)
            else { continue }
            let approvals = turn.brakes.approvalsOfDay(of: block.tenant)
            logger.log(.brakeAsleep, [.tenant: .text(block.tenant), .approvals: LogValue(approvals)])
        }
        for low in judgement.low where notices.isDue(.low(low.tenant, low.region), at: now) {
            logger.log(
                .conversionLow,
                [
                    .tenant: .text(low.tenant), .region: .text(low.region),
                    .expected: LogValue(Int(low.shortfall.expected.rounded())),
                    .observed: LogValue(low.shortfall.observed),
                ]
            )
        }
    }

    /// Logs a block's transition; false if there was none.
    @discardableResult
    private mutating func log(_ changed: TenantBlock) -> Bool {
        guard let event = notices.event(of: changed) else { return false }
        logger.log(event, notices.fields(of: changed))
        return true
    }

    /// Reads feedback, whose errors are none of the brake.
    private mutating func readFeedback(_ turn: Turn, at now: Timestamp) async {
        do {
            try await feedback?.read(in: turn.reader, renewedAt: now, lease: Self.lease)
        } catch {
            logger.log(.feedbackFailed, [.error: LogValue(error)])
        }
    }

    /// Stores blocks at once, and counts every minute.
    private func store(_ turn: Turn, at now: Timestamp) async throws {
        if !turn.unstored.isEmpty {
            guard try await ledger.store(Array(turn.unstored.values), by: turn.reader) else { throw Lost() }
            turn.unstored = [:]
        }
        try await storeLaunches(turn, isDue: turn.storesAt <= now)
        guard turn.storesAt <= now, turn.brakes.readFrom <= turn.countedFrom, let end = turn.positions.last else {
            return
        }
        guard try await ledger.add(turn.brakes.counts, from: turn.countedTo, upTo: end, by: turn.reader) else {
            throw Lost()
        }
        turn.countedTo = end
        turn.routes.add(turn.brakes.counts)
        turn.brakes.removeCounts()
        turn.storesAt = now + Self.storeInterval
    }

    /// Stores how many messages launches have used: now and then, and at once where none is left.
    private func storeLaunches(_ turn: Turn, isDue: Bool) async throws {
        if turn.launches.isEmpty { return }
        let counted = turn.countedLaunches.filter { isDue || $0.isUsedUp }
        if counted.isEmpty { return }
        guard try await ledger.store(counted, by: turn.reader) else { throw Lost() }
        for launch in counted where launch.isUsedUp {
            logger.log(.brakeLaunchOver, BrakeNotices.fields(of: launch))
        }
    }

    /// Judges the providers of adaptive routes every few seconds, and stores their shares every minute or when one has
    /// become silent.
    private mutating func share(_ turn: Turn, at now: Timestamp) async throws {
        guard let routeLedger, !turn.routes.isEmpty, turn.silencesAt <= now else { return }
        turn.silencesAt = now + Self.silenceInterval
        let isDue = turn.sharesAt <= now
        let judgement = turn.routes.judge(at: now, by: turn.brakes, isDue: isDue)
        routeNotices.log(judgement, of: turn.routes, at: now, logger)
        if let shares = judgement.shares {
            turn.sharesAt = now
            guard try await routeLedger.store(shares, by: turn.reader) else { throw Lost() }
            turn.routes.noteStored(shares)
        }
        if turn.sharesAt <= now { turn.sharesAt = now + Self.storeInterval }
    }
}
