// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// The connections to one origin; used on its event loop only.
final class ConnectionPool {
    private static let connectTimeout = TimeAmount.seconds(3)

    /// A peer that takes the connection and then says nothing must not keep its place.
    private static let handshakeTimeout = TimeAmount.seconds(3)

    private let origin: Target.Origin
    private let loop: any EventLoop
    private let maximum: Int
    private let secure: SecureContext?
    private let resolver: any Resolver & Sendable
    private let greatestAge: TimeAmount

    /// The newest last: it is used first, so that those that are too many grow old.
    private var idle: [ProviderConnection] = []
    private var connections: [ObjectIdentifier: ProviderConnection] = [:]
    private var waiting = CircularBuffer<ProviderCall>()

    /// Given up by every failure: the address may have moved, so what was opened before is not used again.
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

    /// Gives a call an idle connection, or the next one that is free; a new one is opened while there may be more.
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

    /// Ends calls whose time is over, waiting or under way, and drops connections that have been idle for too long.
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

    /// Opens a connection; when it cannot be opened, that is the failure of the call that it was opened for.
    ///
    /// It is not tried again: a failed one surely sent nothing, and the pipeline has a next provider at hand. Once open, a
    /// connection serves whoever waits longest, and its end is no other call's failure.
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
            // Before the call fails: who hears of the failure and calls again has the name looked up anew.
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
            // Not before: a name has many addresses, and each one that is tried has a channel of its own.
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

    /// The channel once its proxy passes everything on; where there is none, at once.
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

    /// Drops what is idle, and lets what is busy end after its call: the next call connects anew, and looks the name up.
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

    /// Whether a call still waits; ends it when its time is over.
    private func mayLeave(_ call: ProviderCall) -> Bool {
        if let hindrance = call.hindrance { call.fail(hindrance) }
        return call.isWaiting
    }

    /// A connection has gone: who still waits may have a new one.
    private func replace() {
        while let call = waiting.first, !call.isWaiting { waiting.removeFirst() }
        if let call = waiting.first, connections.count < maximum { connect(for: call) }
    }
}

extension String {
    /// Whether a host is an IP address, which has no name to ask a certificate for.
    fileprivate var isAddress: Bool { (try? SocketAddress(ipAddress: self, port: 0)) != nil }
}
