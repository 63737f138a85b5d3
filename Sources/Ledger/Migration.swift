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

    /// What the checksum was before the file took roles as they are; databases that were made by that text are the same.
    private let earlierChecksum: [UInt8]?

    private init(
        _ version: Int32,
        _ name: String,
        _ bytes: [UInt8],
        roles: [String] = [],
        before earlierChecksum: [UInt8]? = nil
    ) {
        self.version = version
        self.name = name
        self.roles = roles
        self.earlierChecksum = earlierChecksum
        sql = String(decoding: bytes, as: UTF8.self)
        checksum = Array(SHA256.hash(data: bytes))
    }

    /// Whether a database with this checksum was made by this migration.
    func accepts(_ checksum: [UInt8]) -> Bool { checksum == self.checksum || checksum == earlierChecksum }

    /// All migrations, in order.
    package static let all = [
        Migration(
            1,
            "0001_tables",
            PackageResources._001_tables_sql,
            roles: ["courier_worker", "courier_verifier", "courier_monitor"],
            before: [
                0x5c, 0x1d, 0xb0, 0x4b, 0x9c, 0x51, 0xe1, 0x4d, 0x92, 0x33, 0x0e, 0x1c, 0xd7, 0xe4, 0xaf, 0xa6,
                0x49, 0x23, 0x0a, 0xf0, 0x38, 0x22, 0x60, 0xbb, 0x3e, 0x23, 0x5b, 0x33, 0x96, 0xed, 0xa1, 0x73,
            ]
        ),
        Migration(2, "0002_verifier", PackageResources._002_verifier_sql),
        Migration(3, "0003_limits", PackageResources._003_limits_sql),
        Migration(4, "0004_provider_rates", PackageResources._004_provider_rates_sql),
        Migration(5, "0005_receipts", PackageResources._005_receipts_sql),
        Migration(
            6,
            "0006_erase",
            PackageResources._006_erase_sql,
            roles: ["courier_operator"],
            before: [
                0x48, 0xb7, 0x24, 0xd9, 0xe6, 0x95, 0xdc, 0xd8, 0x2f, 0x48, 0x2d, 0xa2, 0xd3, 0x8e, 0xed, 0x77,
                0x7a, 0x79, 0x71, 0xbd, 0x6f, 0x25, 0x29, 0xc8, 0x22, 0x9c, 0xae, 0xe8, 0x6a, 0x7a, 0xd4, 0x17,
            ]
        ),
        Migration(7, "0007_shards", PackageResources._007_shards_sql),
        Migration(8, "0008_tenant_totals", PackageResources._008_tenant_totals_sql),
        Migration(9, "0009_maintenance", PackageResources._009_maintenance_sql),
        Migration(10, "0010_search_path", PackageResources._010_search_path_sql),
        Migration(11, "0011_admissions", PackageResources._011_admissions_sql),
        Migration(12, "0012_safeguards", PackageResources._012_safeguards_sql),
        Migration(13, "0013_erase_windows", PackageResources._013_erase_windows_sql),
        Migration(14, "0014_samples", PackageResources._014_samples_sql),
        Migration(15, "0015_check_code", PackageResources._015_check_code_sql),
        Migration(16, "0016_timeline", PackageResources._016_timeline_sql),
        Migration(17, "0017_key_check", PackageResources._017_key_check_sql),
        Migration(18, "0018_tried_providers", PackageResources._018_tried_providers_sql),
        Migration(19, "0019_day_tables", PackageResources._019_day_tables_sql),
        Migration(20, "0020_forgotten_admissions", PackageResources._020_forgotten_admissions_sql),
        Migration(21, "0021_refused_by", PackageResources._021_refused_by_sql),
        Migration(22, "0022_cell", PackageResources._022_cell_sql),
    ]
}
