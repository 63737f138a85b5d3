// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

/// A door that is shut until it is opened once.
///
/// Nobody waits before it for longer than a minute, nor when the test is cancelled: a test that misses what it waits for
/// ends all the same. It opens its gates by `defer`.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastID = 0
    }

    private let state = Mutex(State())

    func open() {
        let waiters = state.withLock { state in
            defer { state.waiters = [:] }
            state.isOpen = true
            return state.waiters.values
        }
        for waiter in waiters { waiter.resume() }
    }

    func pass() async {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        async let _ = expire(id)
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let isOpen = state.withLock { state in
                    if !state.isOpen { state.waiters[id] = waiter }
                    return state.isOpen
                }
                if isOpen {
                    waiter.resume()
                } else if Task.isCancelled {
                    // A cancellation before this point found nobody.
                    letGo(id)
                }
            }
        } onCancel: {
            letGo(id)
        }
    }

    /// Ends a wait after the time for all of them; the end of the wait cancels it.
    private func expire(_ id: Int) async {
        do {
            // The deadline itself: an open gate needs none.
            try await Task.sleep(for: .seconds(60))
        } catch {
            return
        }
        if letGo(id) { Issue.record("a gate was shut for a minute") }
    }

    @discardableResult
    private func letGo(_ id: Int) -> Bool {
        let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
        waiter?.resume()
        return waiter != nil
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
