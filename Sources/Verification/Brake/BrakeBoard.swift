// SPDX-License-Identifier: Apache-2.0

/// The blocks and the operators' orders of all tenants, as a worker knows them.
package struct BrakeBoard: Sendable, Equatable {
    package static let empty = BrakeBoard(blocks: [], overrides: [])

    private let tenants: [String: BrakeSnapshot]

    /// The probes that this worker has let through.
    package var turns = BrakeTurns()

    /// Takes blocks of all states: those that ended within the last hour show how probes fare.
    package init(blocks: [(tenant: String, block: BrakeBlock, isAsleep: Bool)], overrides: [BrakeOverride]) {
        let blocksByTenant = Dictionary(grouping: blocks, by: \.tenant)
        let overridesByTenant = Dictionary(grouping: overrides, by: \.tenant)
        var tenants: [String: BrakeSnapshot] = [:]
        for tenant in Set(blocksByTenant.keys).union(overridesByTenant.keys) {
            let snapshot = BrakeSnapshot(
                (blocksByTenant[tenant] ?? []).map { ($0.block, $0.isAsleep) },
                overrides: overridesByTenant[tenant] ?? []
            )
            if !snapshot.isEmpty { tenants[tenant] = snapshot }
        }
        self.tenants = tenants
    }

    /// A tenant's blocks and orders; nil if there are none.
    package subscript(tenant: String) -> BrakeSnapshot? { tenants[tenant] }

    /// The number of scopes of all tenants in a state.
    package func count(of state: BrakeBlock.State) -> Int {
        tenants.values.reduce(0) { $0 + $1.count(of: state) }
    }
}
