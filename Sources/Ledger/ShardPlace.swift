// SPDX-License-Identifier: Apache-2.0

/// Which of the shards a database is, by its place in the configuration's list.
///
/// Requests are placed by the number of shards and ids name a place, so each database remembers its own.
package struct ShardPlace: Sendable, Hashable, CustomStringConvertible {
    /// Counted from 0.
    package let number: Int
    package let count: Int

    package init(_ number: Int, of count: Int) {
        self.number = number
        self.count = count
    }

    /// The only database.
    package static let only = ShardPlace(0, of: 1)

    package var description: String { "shard \(number) of \(count), counted from 0" }
}
