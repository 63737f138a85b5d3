// SPDX-License-Identifier: Apache-2.0

import PostgresClient

extension Migrator {
    /// Throws a refusal that names the missing roles, unless the login may create them.
    ///
    /// Existing roles are used as they are: an owner without the right to create roles depends on that.
    static func checkRoles(_ roles: [String], _ session: Session) throws {
        if roles.isEmpty { return }
        let rows = try session.execute(
            Statement(
                """
                SELECT wanted.name
                FROM unnest($1::text[]) WITH ORDINALITY AS wanted(name, place)
                WHERE NOT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = wanted.name)
                  AND NOT (SELECT r.rolsuper OR r.rolcreaterole FROM pg_roles r WHERE r.rolname = current_user)
                ORDER BY wanted.place
                """,
                [.texts(roles)]
            )
        )
        let missing = try rows.map { try $0.text(0) }
        if !missing.isEmpty { throw Refusal.roles(missing: missing) }
    }
}
