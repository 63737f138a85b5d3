// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization

/// The connections to one origin; used only on its event loop.
final class ConnectionPool {
    private static let connectTimeout = TimeAmount.seconds(3)

    /// Bounds the handshake, so that a peer that accepts and then stays silent does not occupy a slot of the pool.
    private static let handshakeTimeout = TimeAmount.seconds(3)

    private let origin: Target.Origin
    private let loop: any EventLoop
    private let maximum: Int
    private let secure: SecureContext?
    private let resolver: any Resolver & Sendable
    private let greatestAge: TimeAmount

    /// Idle connections, the newest last: the newest is used first, so that surplus ones reach their idle limit.
    private var idle: [ProviderConnection] = []
    private var connections: [ObjectIdentifier: ProviderConnection] = [:]
    private var waiting = CircularBuffer<ProviderCall>()

    /// Incremented at each failure.
    ///
    /// Connections of an earlier generation are not used again, since the address may have changed.
    private var generation = 0

    init(
        _ origin: Target.Origin,
        loop: any EventLoop,
        maximum: Int,
        secure: SecureContext?,
        resolver: any Resolver & Sendable,
        greatestAge: TimeAmount
    ) {
        self.greatestAge = greatestAge
        self.origin = origin
        self.loop = loop
        self.maximum = maximum
        self.secure = secure
        self.resolver = resolver
    }

    /// Assigns a call to an idle connection or the next free one; opens a new one while the pool is below its maximum.
    func run(_ call: ProviderCall) {
        guard mayLeave(call) else { return }
        let now = NIODeadline.now()
        while let connection = idle.popLast() {
            guard connection.isIdle else { continue }
            guard connection.isOver(at: now) else { return connection.run(call) }
            connection.close(.timeout)
        }
        waiting.append(call)
        if connections.count < maximum { connect(for: call) }
    }

    /// Ends calls past their deadline, waiting or in flight, and closes connections that were idle for too long.
    func sweep(at now: NIODeadline) {
        waiting.removeAll { !mayLeave($0) }
        for connection in connections.values where connection.isOver(at: now) { connection.close(.timeout) }
        idle.removeAll { !$0.isIdle }
    }

    var isEmpty: Bool { connections.isEmpty && waiting.isEmpty }

    func close() {
        while let call = waiting.popFirst() { call.fail(.clientShutDown) }
        for connection in connections.values { connection.close(.clientShutDown) }
    }

    // MARK: - Opening

    /// Opens a connection; a failure to open it is the failure of the call that it was opened for.
    ///
    /// There is no retry: a failed attempt sent nothing, and the pipeline can use the next provider. Once open, a
    /// connection serves the call that has waited longest, and its end fails no other call.
    private func connect(for call: ProviderCall) {
        let now = NIODeadline.now()
        let connection = ProviderConnection(
            isSecure: origin.isSecure,
            openUntil: now + Self.connectTimeout + Self.handshakeTimeout,
            oldAt: now + greatestAge
        ) { [weak self] connection in
            self?.take(connection)
        } onClose: { [weak self] connection, failure, activity in
            self?.connections[ObjectIdentifier(connection)] = nil
            // Before the call fails: a caller that retries on the failure then triggers a new name lookup.
            if activity != .idling, failure != .cancelled, failure != .clientShutDown { self?.giveUpOthers() }
            if activity == .opening, call.isWaiting { call.fail(failure) }
            self?.replace()
        }
        connection.generation = generation
        connections[ObjectIdentifier(connection)] = connection
        let tls = secure?.current()
        guard tls != nil || !origin.isSecure else { return connection.close(.tlsFailed) }
        let origin = origin
        let bound = NIOLoopBound(connection, eventLoop: loop)
        let place = origin.options?.proxy.map { ($0.host, $0.port) } ?? (origin.host, origin.port)
        ClientBootstrap(group: loop)
            .connectTimeout(Self.connectTimeout)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .resolver(resolver)
            .connect(host: place.0, port: place.1)
            // Not earlier: a name may have several addresses, and every attempt makes its own channel.
            .flatMap { channel in
                bound.value.connected(channel)
                return Self.tunnel(to: origin, over: channel)
            }
            .flatMapThrowing { channel in
                let pipeline = channel.pipeline.syncOperations
                if let tls {
                    let name = origin.host.isAddress ? nil : origin.host
                    try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: name))
                }
                try pipeline.addHandler(ByteToMessageHandler(AnswerDecoder()))
                try pipeline.addHandler(bound.value)
            }
            .whenFailure { bound.value.close(TransportFailure($0)) }
    }

    /// The channel once its proxy has opened the tunnel; without a proxy, at once.
    private static func tunnel(to origin: Target.Origin, over channel: any Channel) -> EventLoopFuture<any Channel> {
        guard origin.isSecure, let proxy = origin.options?.proxy else {
            return channel.eventLoop.makeSucceededFuture(channel)
        }
        let granted = channel.eventLoop.makePromise(of: Void.self)
        do {
            try channel.pipeline.syncOperations.addHandler(TunnelRequest(to: origin, through: proxy, granted))
        } catch {
            granted.fail(error)
        }
        return granted.futureResult.map { channel }
    }

    /// Closes idle connections, and busy ones after their call: the next call looks the name up and connects again.
    private func giveUpOthers() {
        generation += 1
        (resolver as? NameResolver)?.doubt(origin.host, origin.port)
        for connection in idle where connection.isIdle { connection.close(.timeout) }
        idle = []
    }

    private func take(_ connection: ProviderConnection) {
        let isStale = connection.generation != generation || connection.isOver(at: .now())
        if isStale, connection.hasServed { return connection.close(.timeout) }
        while let call = waiting.popFirst() {
            if mayLeave(call) { return connection.run(call) }
        }
        idle.append(connection)
    }

    /// True while a call may still be written; fails the call if its time is over.
    private func mayLeave(_ call: ProviderCall) -> Bool {
        if let hindrance = call.hindrance { call.fail(hindrance) }
        return call.isWaiting
    }

    /// Opens a connection for a waiting call after another one closed.
    private func replace() {
        while let call = waiting.first, !call.isWaiting { waiting.removeFirst() }
        if let call = waiting.first, connections.count < maximum { connect(for: call) }
    }
}

extension String {
    /// True for an IP address, which has no name to verify a certificate against.
    fileprivate var isAddress: Bool { (try? SocketAddress(ipAddress: self, port: 0)) != nil }
}

/// Runs tasks on the thread of an event loop, so that a call to a provider and its task never switch threads.
///
/// A task that blocks here blocks every provider: use it only for tasks that await I/O.
package final class LoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    /// The jobs of the loop's next run, which the first of them schedules.
    private let jobs = Mutex<[UnownedJob]>([])

    init(_ loop: any EventLoop) {
        self.loop = loop
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isFirst = jobs.withLock { jobs in
            jobs.append(job)
            return jobs.count == 1
        }
        if isFirst { loop.execute { self.runJobs() } }
    }

    /// Runs the queued jobs; jobs enqueued meanwhile are run in a later turn of the loop.
    private func runJobs() {
        let turn = jobs.withLock { jobs in
            defer { jobs = [] }
            return jobs
        }
        for job in turn { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
