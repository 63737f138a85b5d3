// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The kernel's randomness, fetched for many numbers at once, since one system call for each slows an intake
/// noticeably.
///
/// A class, so that no copy ever repeats a number: nonces are made of them.
package final class KernelRandomness: RandomNumberGenerator {
    private var system = SystemRandomNumberGenerator()
    private var words: [UInt64] = []

    /// getentropy(3) returns up to 256 bytes in full or fails.
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
