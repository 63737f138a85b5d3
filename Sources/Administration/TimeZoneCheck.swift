// SPDX-License-Identifier: Apache-2.0

package import PostgresClient
package import Verification

/// The budgets whose time zone the database's server does not know: no money of them can be leased.
package struct TimeZoneCheck: Sendable {
    private let pool: PostgresPool

    /// - Parameter pool: connections of a role that is granted `courier_worker` or `courier_operator`, or of the owner.
    package init(_ pool: PostgresPool) {
        self.pool = pool
    }

    /// A sentence about each such budget, with the fix in it.
    package func faults(of policy: Policy) async throws -> [String] {
        let zones = Set(policy.tenants.values.flatMap { $0.budgets.map(\.timeZone) }).subtracting(["UTC"])
        if zones.isEmpty { return [] }
        let statement = Statement(
            "SELECT z.zone FROM unnest($1::text[]) AS z(zone) WHERE NOT courier.is_time_zone(z.zone)",
            [.texts(zones.sorted())]
        )
        let rows = try await pool.withSession { session in try session.execute(statement) }
        let unknown = Set(try rows.map { try $0.text(0) })
        return policy.tenants.sorted { $0.key < $1.key }.flatMap { name, tenant in
            tenant.budgets.filter { unknown.contains($0.timeZone) }.map { budget in
                """
                tenants.\(name).budgets: the database's server does not know the time zone \(budget.timeZone) of \
                \(budget.name); name one of its view pg_timezone_names
                """
            }
        }
    }
}
