// SPDX-License-Identifier: Apache-2.0

/// Tracks free connections and waiters, first come, first served; without clock and I/O.
///
/// No connection is free while a waiter exists. The owner performs the returned actions after it has released its lock.
struct PoolStateMachine<Waiter, Closer> {
    enum LeaseAction {
        case lend(Int)
        case wait
        case refuse
    }

    enum ReturnAction {
        case none
        case lend(Int, to: Waiter)
        /// The last connection was returned to a closing pool.
        case closed([Closer])
    }

    struct CloseAction {
        var refused: [Waiter] = []
        var isClosed: Bool
    }

    private let size: Int
    private var free: [Int]
    private var waiters: [(id: UInt64, waiter: Waiter)] = []
    private var closers: [Closer] = []
    private var isClosing = false
    private var nextIdentifier: UInt64 = 0

    init(size: Int) {
        self.size = size
        // Last in, first out: under a light load few connections are opened.
        free = (0..<size).reversed()
    }

    var waiterCount: Int { waiters.count }

    /// Leases a free connection; after `wait` the caller must call `enqueue`.
    mutating func lease() -> LeaseAction {
        if isClosing { return .refuse }
        return free.popLast().map { .lend($0) } ?? .wait
    }

    mutating func makeIdentifier() -> UInt64 {
        nextIdentifier &+= 1
        return nextIdentifier
    }

    /// Leases a free connection, or adds the waiter to the queue when none is free.
    mutating func enqueue(_ waiter: Waiter, id: UInt64) -> LeaseAction {
        let action = lease()
        if case .wait = action { waiters.append((id, waiter)) }
        return action
    }

    /// Removes a waiter from the queue; nil when it was served or refused already.
    mutating func remove(_ id: UInt64) -> Waiter? {
        guard let index = waiters.firstIndex(where: { $0.id == id }) else { return nil }
        return waiters.remove(at: index).waiter
    }

    mutating func release(_ connection: Int) -> ReturnAction {
        if !waiters.isEmpty { return .lend(connection, to: waiters.removeFirst().waiter) }
        free.append(connection)
        guard isClosing, free.count == size else { return .none }
        defer { closers = [] }
        return .closed(closers)
    }

    /// Refuses current and later waiters; keeps `closer` until all connections are returned, unless they are already.
    mutating func close(_ closer: Closer) -> CloseAction {
        isClosing = true
        defer { waiters = [] }
        let isClosed = free.count == size
        if !isClosed { closers.append(closer) }
        return CloseAction(refused: waiters.map(\.waiter), isClosed: isClosed)
    }
}
