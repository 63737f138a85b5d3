// SPDX-License-Identifier: Apache-2.0

import Administration
import Formats
import Verification

/// The blocks and orders of a database, as text for people or JSON for scripts.
struct BrakeListOutput {
    let state: BrakeDesk.State

    var lines: [String] {
        var table = TextTable(numbers: [6, 7, 8, 9])
        let titles = ["tenant", "scope", "key", "region", "state", "until", "trips", "expected", "observed", "stopped"]
        table.row(titles)
        for row in state.blocks {
            let block = row.block
            table.row(
                row.tenant,
                block.key.scope.word,
                BrakeOverride.Scope(block.key.scope).text(of: block.key.value),
                block.region,
                block.state.rawValue,
                block.end,
                String(block.trips),
                String(Int(block.shortfall.expected.rounded())),
                String(block.shortfall.observed),
                Int(row.refused).grouped,
                row.isAsleep ? "only records: too few approvals" : ""
            )
        }
        let blocks = state.blocks.isEmpty ? ["no blocks"] : ["blocks"] + table.lines
        let orders = state.orders.isEmpty ? ["no orders"] : ["orders"] + state.orders.map { "  \($0.text)" }
        return blocks + [""] + orders
    }

    var json: [UInt8] {
        var writer = JSONWriter()
        writer.object { root in
            root.member("at", state.now.rfc3339)
            root.array("blocks") { blocks in
                for row in state.blocks {
                    blocks.object { block in
                        block.member("tenant", row.tenant)
                        block.member("scope", row.block.key.scope.word)
                        block.member("key", BrakeOverride.Scope(row.block.key.scope).text(of: row.block.key.value))
                        block.member("region", row.block.region)
                        row.writeMembers(to: &block)
                    }
                }
            }
            root.array("orders") { orders in
                for order in state.orders { orders.object { order.write(to: &$0) } }
            }
        }
        return writer.bytes
    }
}

extension BrakeDesk.Block {
    func writeMembers(to writer: inout JSONWriter) {
        writer.member("state", block.state.rawValue)
        writer.member("beganAt", block.beganAt.rfc3339)
        writer.member("changesAt", block.changesAt.rfc3339)
        writer.member("trips", block.trips)
        writer.member("expected", block.shortfall.expected)
        writer.member("observed", block.shortfall.observed)
        writer.member("surprise", block.shortfall.surprise)
        writer.member("onlyRecords", isAsleep)
        writer.member("stopped", refused)
    }
}

extension BrakeDesk.Order {
    /// The order in one line.
    var text: String {
        let place = "\(order.scope.rawValue) \(order.scope.text(of: order.key))"
        let used = order.maximum.map { maximum in
            let count = "\(Int(order.used).grouped) of \(Int(maximum).grouped) messages"
            return order.isUsedUp ? ", over: \(count)" : ", \(count)"
        }
        let stopped = order.action == .block ? ", \(Int(refused).grouped) stopped" : ""
        return "\(order.action.rawValue) \(place) of \(order.tenant) until \(order.until.rfc3339)\(used ?? stopped), "
            + "by \(createdBy.printable): \(order.reason.printable)"
    }

    func write(to writer: inout JSONWriter) {
        writer.member("tenant", order.tenant)
        writer.member("scope", order.scope.rawValue)
        writer.member("key", order.scope.text(of: order.key))
        writer.member("action", order.action.rawValue)
        writer.member("until", order.until.rfc3339)
        if let maximum = order.maximum {
            writer.member("maximum", Int(maximum))
            writer.member("used", Int(order.used))
        }
        if order.action == .block { writer.member("stopped", refused) }
        writer.member("reason", order.reason)
        writer.member("createdAt", createdAt.rfc3339)
        writer.member("createdBy", createdBy)
    }
}

extension BrakeBlock {
    /// The time at which a block ends or ended; empty while half open.
    var end: String { state == .halfOpen ? "" : changesAt.rfc3339 }
}
