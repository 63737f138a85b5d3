// SPDX-License-Identifier: Apache-2.0

import Crypto

/// One numbered SQL file of `schemas/postgres`, built into the program.
package struct Migration: Sendable {
    package let version: Int32
    package let name: String
    package let sql: String

    /// SHA-256 of the file: an applied migration must never change.
    package let checksum: [UInt8]

    /// The roles that the file creates where they are not there yet.
    package let roles: [String]

    private init(_ version: Int32, _ name: String, _ bytes: [UInt8], roles: [String] = []) {
        self.version = version
        self.name = name
        self.roles = roles
        sql = String(decoding: bytes, as: UTF8.self)
        checksum = Array(SHA256.hash(data: bytes))
    }

    /// All migrations, in order.
    package static let all = [
        Migration(
            1,
            "0001_schema",
            PackageResources._001_schema_sql,
            roles: ["courier_worker", "courier_verifier", "courier_monitor", "courier_operator"]
        ),
        Migration(2, "0002_verifications", PackageResources._002_verifications_sql),
        Migration(3, "0003_verifier", PackageResources._003_verifier_sql),
        Migration(4, "0004_limits", PackageResources._004_limits_sql),
        Migration(5, "0005_provider_rates", PackageResources._005_provider_rates_sql),
        Migration(6, "0006_receipts", PackageResources._006_receipts_sql),
        Migration(7, "0007_outbox", PackageResources._007_outbox_sql),
        Migration(8, "0008_maintenance", PackageResources._008_maintenance_sql),
        Migration(9, "0009_erase", PackageResources._009_erase_sql),
        Migration(10, "0010_fleet", PackageResources._010_fleet_sql),
    ]
}
