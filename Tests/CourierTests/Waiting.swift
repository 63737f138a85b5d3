// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A door that is shut until it is opened once.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func open() {
        let waiters = state.withLock { state in
            defer { state.waiters = [] }
            state.isOpen = true
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    func pass() async {
        await withCheckedContinuation { waiter in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiters.append(waiter) }
                return state.isOpen
            }
            if isOpen { waiter.resume() }
        }
    }
}

/// What the parts around a pipeline saw, in order.
final class Journal: Sendable {
    enum Entry: Hashable, Sendable {
        case taken(Int)
        case committed(Int)
        case ledger(FailingLedger.Method)
        case called(provider: String)
        case produced(Int)
        case left
    }

    private let state = Mutex<[Entry]>([])

    var entries: [Entry] { state.withLock(\.self) }

    /// The entries without those of the sweeps, which come all the time.
    var work: [Entry] {
        entries.filter {
            ![
                .ledger(.sweepSends), .ledger(.sweepExpired), .ledger(.sweepReceipts), .ledger(.sweepOutbox),
                .ledger(.maintain),
            ].contains($0)
        }
    }

    func note(_ entry: Entry) {
        state.withLock { $0.append(entry) }
    }
}
