// SPDX-License-Identifier: Apache-2.0

/// Which connections are free and who waits, first come, first served: no clock, no I/O.
///
/// A connection is free only while nobody waits. The owner performs the returned actions after it released its lock.
struct PoolStateMachine<Waiter, Closer> {
    enum LeaseAction {
        case lend(Int)
        case wait
        case refuse
    }

    enum ReturnAction {
        case none
        case lend(Int, to: Waiter)
        /// The last connection came back to a closing pool.
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
        // The end is taken first, and what came back last is lent first: few connections are opened under a light load.
        free = (0..<size).reversed()
    }

    var waiterCount: Int { waiters.count }

    /// A free connection at once, or `wait`: then `enqueue` follows.
    mutating func lease() -> LeaseAction {
        if isClosing { return .refuse }
        return free.popLast().map { .lend($0) } ?? .wait
    }

    mutating func makeIdentifier() -> UInt64 {
        nextIdentifier &+= 1
        return nextIdentifier
    }

    /// As `lease`, and stands in line when nothing is free.
    mutating func enqueue(_ waiter: Waiter, id: UInt64) -> LeaseAction {
        let action = lease()
        if case .wait = action { waiters.append((id, waiter)) }
        return action
    }

    /// Takes a waiter out of the line; nil when it was served or refused already.
    mutating func remove(_ id: UInt64) -> Waiter? {
        guard let index = waiters.firstIndex(where: { $0.id == id }) else { return nil }
        return waiters.remove(at: index).waiter
    }

    mutating func giveBack(_ connection: Int) -> ReturnAction {
        if !waiters.isEmpty { return .lend(connection, to: waiters.removeFirst().waiter) }
        free.append(connection)
        guard isClosing, free.count == size else { return .none }
        defer { closers = [] }
        return .closed(closers)
    }

    /// Refuses who waits and who comes; `closer` is kept until all is back, unless all is back already.
    mutating func close(_ closer: Closer) -> CloseAction {
        isClosing = true
        defer { waiters = [] }
        let isClosed = free.count == size
        if !isClosed { closers.append(closer) }
        return CloseAction(refused: waiters.map(\.waiter), isClosed: isClosed)
    }
}
