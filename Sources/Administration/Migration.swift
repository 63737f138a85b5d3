// SPDX-License-Identifier: Apache-2.0

import Crypto

/// One numbered SQL file of `schemas/postgres`, embedded in the program.
package struct Migration: Sendable {
    package let version: Int32
    package let name: String
    package let sql: String

    /// The file's SHA-256, by which a changed file of an applied migration is detected.
    package let checksum: [UInt8]

    /// The roles that the file creates if they do not exist.
    package let roles: [String]

    private init(name: String, sql: String) {
        guard let version = Int32(name.prefix { $0 != "_" }) else { preconditionFailure("\(name) has no number") }
        self.version = version
        self.name = name
        self.sql = sql
        checksum = Array(SHA256.hash(data: Array(sql.utf8)))
        roles = version == 1 ? ["courier_worker", "courier_verifier", "courier_monitor", "courier_operator"] : []
    }

    package static let all = Embedded.all.sorted { $0.name < $1.name }.map { file in
        Migration(name: String(file.name.prefix { $0 != "." }), sql: file.text)
    }
}
