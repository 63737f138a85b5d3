// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

/// A gate that is closed until it is opened once.
///
/// A wait ends after a minute at the latest, or when its task is cancelled, so that a test with a missed condition
/// ends. Tests open their gates by `defer`.
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
                    // The cancellation ran before this waiter was stored, so it resumed nothing.
                    letGo(id)
                }
            }
        } onCancel: {
            letGo(id)
        }
    }

    /// Ends a wait after the maximum time, unless the wait ends first and cancels this task.
    private func expire(_ id: Int) async {
        do {
            // This sleep is the deadline itself. Opening the gate cancels it.
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

/// The events that the fakes around a pipeline observed, in order.
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

    /// The entries without those of the sweeps, which run all the time.
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
