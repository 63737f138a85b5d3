// SPDX-License-Identifier: Apache-2.0

extension UUIDValue {
    /// How many shards the ids can name.
    package static let maximumShards = 256

    /// The shard that the id names in its last byte, counted from 0.
    ///
    /// Only ids that were `placed(on:)` a shard name one; that byte of others is as random as the rest.
    package var shard: UInt8 { UInt8(truncatingIfNeeded: value) }

    /// Its database of so many.
    package func database(of count: Int) -> Int { Int(shard) % count }

    /// The same id with a shard in its last byte, so that whoever is given the id asks one database and not all.
    ///
    /// RFC 9562 leaves these bits of a UUIDv7 to its maker; its time, version and variant stay, and 66 random bits.
    package func placed(on shard: UInt8) -> UUIDValue {
        UUIDValue(value & ~0xff | UInt128(shard))
    }
}
