// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The kernel's randomness, fetched for many numbers at once: a call for each is a noticeable part of an intake.
///
/// A class, so that no copy ever gives a number again: nonces are made of them.
package final class KernelRandomness: RandomNumberGenerator {
    private var system = SystemRandomNumberGenerator()
    private var words: [UInt64] = []

    /// So many bytes come whole or not at all (getentropy(3)).
    private static let count = 256 / MemoryLayout<UInt64>.size

    package init() {}

    package func next() -> UInt64 {
        if words.isEmpty { words = Self.fetch() }
        return words.popLast() ?? system.next()
    }

    private static func fetch() -> [UInt64] {
        [UInt64](unsafeUninitializedCapacity: count) { buffer, initializedCount in
            let size = count * MemoryLayout<UInt64>.size
            initializedCount = getentropy(buffer.baseAddress, size) == 0 ? count : 0
        }
    }
}
