// SPDX-License-Identifier: Apache-2.0

import TestTools
import Testing

@testable import PostgresClient

struct PoolStateMachineTests {
    /// Makes random calls, and compares them with a simple model of the borrowed connections.
    @Test(arguments: 0..<50)
    func `no connection is lent twice and nobody is served out of turn`(seed: UInt64) {
        var generator = TestSeed(seed: seed)
        let size = Int.random(in: 1...4, using: &generator)
        var machine = PoolStateMachine<UInt64, Int>(size: size)
        var lent: Set<Int> = []
        var line: [UInt64] = []
        for _ in 0..<400 {
            switch Int.random(in: 0..<3, using: &generator) {
            case 0:
                let id = machine.makeIdentifier()
                switch machine.enqueue(id, id: id) {
                case .lend(let index):
                    #expect(lent.insert(index).inserted && index < size && line.isEmpty, "seed \(seed)")
                case .wait:
                    #expect(lent.count == size, "seed \(seed)")
                    line.append(id)
                case .refuse: Issue.record("refused while open, seed \(seed)")
                }
            case 1:
                guard let index = lent.randomElement(using: &generator) else { continue }
                lent.remove(index)
                switch machine.release(index) {
                case .lend(let index, let waiter):
                    #expect(
                        !line.isEmpty && waiter == line.removeFirst() && lent.insert(index).inserted,
                        "seed \(seed)"
                    )
                case .none: #expect(line.isEmpty, "seed \(seed)")
                case .closed: Issue.record("closed while open, seed \(seed)")
                }
            default:
                let id = line.randomElement(using: &generator) ?? 0
                #expect(machine.remove(id) == (line.contains(id) ? id : nil), "seed \(seed)")
                line.removeAll { $0 == id }
            }
            #expect(machine.waiterCount == line.count, "seed \(seed)")
        }
        let closing = machine.close(1)
        #expect(closing.refused == line && closing.isClosed == lent.isEmpty, "seed \(seed)")
        for (position, index) in lent.enumerated() {
            guard case .closed(let closers) = machine.release(index) else {
                #expect(position < lent.count - 1, "seed \(seed)")
                continue
            }
            #expect(position == lent.count - 1 && closers == [1], "seed \(seed)")
        }
        guard case .refuse = machine.lease() else {
            Issue.record("lent after close, seed \(seed)")
            return
        }
        #expect(machine.close(2).isClosed)
    }
}
