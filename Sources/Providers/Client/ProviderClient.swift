// SPDX-License-Identifier: Apache-2.0

import Formats
import NIOCore
import NIOPosix
import NIOSSL
import Verification

/// The HTTP/1.1 client that all providers share; its owner shuts it down after the last call.
///
/// - No redirects, and no proxy but a provider's own: a message goes to the configured host or nowhere.
/// - Every call has one deadline, which spans connection, head and body.
/// - No retries.
///
/// Everything runs on one event loop, and so may the tasks that call it: see `executor`. A general HTTP client takes
/// four times the processor time for a call, which was more than a third of a worker's.
package final class ProviderClient: Sendable {
    /// Runs tasks on the event loop of the calls, which saves two thread switches a call.
    package let executor: LoopExecutor

    private let loop: any EventLoop
    private let state: NIOLoopBoundBox<State>
    private let maximumConnections: Int
    private let resolver: any Resolver & Sendable
    private let authorities: NIOSSLTrustRoots?
    private let greatestAge: TimeAmount

    /// The interval of checks, and so the precision of deadlines.
    private static let tick = TimeAmount.milliseconds(100)

    /// A check that is late by this much counts as a freeze of the process.
    private static let freeze = TimeAmount.seconds(1)

    private struct State {
        var pools: [Target.Origin: ConnectionPool] = [:]
        var secure: [ConnectionOptions?: SecureContext] = [:]

        /// The origin with options that was used last, by origin without options.
        var latest: [Target.Origin: Target.Origin] = [:]
        var isTicking = false
        var isShutDown = false
    }

    /// Creates a client with at most `maximumConnections` connections to each origin.
    package convenience init(maximumConnections: Int) {
        self.init(maximumConnections: maximumConnections, resolver: nil)
    }

    /// Creates a client that resolves names with `resolver` and trusts `authorities`, or by default as the system does.
    init(
        on group: MultiThreadedEventLoopGroup = .singleton,
        maximumConnections: Int,
        resolver: (any Resolver & Sendable)? = nil,
        trusting authorities: NIOSSLTrustRoots? = nil,
        greatestAge: TimeAmount = .minutes(5)
    ) {
        self.greatestAge = greatestAge
        let loop = group.next()
        self.loop = loop
        executor = LoopExecutor(loop)
        state = NIOLoopBoundBox.makeBoxSendingValue(State(), eventLoop: loop)
        self.maximumConnections = max(1, maximumConnections)
        self.resolver = resolver ?? NameResolver(loop: loop)
        self.authorities = authorities
    }

    /// Ends every call and connection.
    package func shutdown() async {
        try? await loop.submit { [state] in
            state.value.isShutDown = true
            for pool in state.value.pools.values { pool.close() }
        }.get()
    }

    /// Makes one call; returns as soon as it ends, its deadline passes, the message may no longer be sent or the
    /// calling task is cancelled.
    func exchange(_ request: ProviderRequest, _ body: [UInt8]?, of message: OutboundMessage) async -> ExchangeResult {
        await exchange(
            request,
            body,
            within: message.callDeadline,
            leaveBy: message.leaveBy,
            trace: message.trace
        )
    }

    /// Makes one call that is of no message.
    func exchange(
        _ request: ProviderRequest,
        _ body: [UInt8]?,
        within deadline: Duration,
        leaveBy: ContinuousClock.Instant,
        trace: TraceContext?
    ) async -> ExchangeResult {
        guard let target = request.target, let bytes = request.bytes(body, trace: trace) else {
            return .notSent(.invalidURL)
        }
        guard deadline > .zero else { return .notSent(.timeout) }
        let end = NIODeadline.now() + TimeAmount(min(deadline, .seconds(3600)))
        let slot = NIOLoopBoundBox<ProviderCall?>.makeEmptyBox(valueType: ProviderCall.self, eventLoop: loop)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                runOnLoop {
                    let call = ProviderCall(
                        bytes,
                        to: target.origin,
                        deadline: end,
                        leaveBy: leaveBy,
                        continuation
                    )
                    slot.value = call
                    self.start(call)
                }
            }
        } onCancel: {
            loop.execute { slot.value?.stop(.cancelled) }
        }
    }

    private func runOnLoop(_ body: @escaping @Sendable () -> Void) {
        if loop.inEventLoop { body() } else { loop.execute(body) }
    }

    private func start(_ call: ProviderCall) {
        guard !state.value.isShutDown else { return call.fail(.clientShutDown) }
        pool(for: call.origin).run(call)
        tick()
    }

    private func pool(for origin: Target.Origin) -> ConnectionPool {
        state.value.latest[origin.place] = origin
        if let pool = state.value.pools[origin] { return pool }
        let pool = ConnectionPool(
            origin,
            loop: loop,
            maximum: maximumConnections,
            secure: origin.isSecure ? secureContext(origin.options) : nil,
            resolver: resolver,
            greatestAge: greatestAge
        )
        state.value.pools[origin] = pool
        return pool
    }

    private func secureContext(_ options: ConnectionOptions?) -> SecureContext {
        if let context = state.value.secure[options] { return context }
        let context = SecureContext(options, trusting: authorities)
        state.value.secure[options] = context
        return context
    }

    /// Drops the pools whose options, such as a client certificate, were replaced, once their connections are closed,
    /// and the TLS contexts that no pool uses.
    private func forgetReplaced() {
        let (pools, latest) = (state.value.pools, state.value.latest)
        let kept = pools.filter { origin, pool in !pool.isEmpty || latest[origin.place] == origin }
        guard kept.count < pools.count else { return }
        let options = Set(kept.keys.map(\.options))
        state.value.pools = kept
        state.value.secure = state.value.secure.filter { options.contains($0.key) }
    }

    /// The current number of pools and TLS contexts.
    func held() async -> (pools: Int, contexts: Int) {
        let count = try? await loop.submit { [state] in [state.value.pools.count, state.value.secure.count] }.get()
        return (count?[0] ?? 0, count?[1] ?? 0)
    }

    /// Checks deadlines and idle connections every `tick` while there are any.
    ///
    /// After a freeze of the process deadlines have passed while answers wait in the sockets. The loop runs due tasks
    /// before it reads the sockets. So a late check is postponed once, or a message that was accepted would count as
    /// unknown.
    private func tick(isPutOff: Bool = false) {
        guard !state.value.isTicking else { return }
        state.value.isTicking = true
        let due = NIODeadline.now() + Self.tick
        loop.scheduleTask(deadline: due) {
            self.state.value.isTicking = false
            if !isPutOff, NIODeadline.now() > due + Self.freeze { return self.tick(isPutOff: true) }
            for pool in self.state.value.pools.values { pool.sweep(at: .now()) }
            self.forgetReplaced()
            if self.state.value.pools.values.contains(where: { !$0.isEmpty }) { self.tick() }
        }
    }
}
