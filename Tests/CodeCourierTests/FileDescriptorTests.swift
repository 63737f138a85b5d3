// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import CodeCourier

@Suite("File descriptors")
struct FileDescriptorTests {
    @Test func `the soft limit is raised to the hard one, and to no more than a worker needs`() throws {
        let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var before = rlimit()
        try #require(getrlimit(kind, &before) == 0)
        // The tests never have as many files open as this limit allows.
        var low = before
        low.rlim_cur = min(before.rlim_max, 4096)
        try #require(setrlimit(kind, &low) == 0)
        let count = FileDescriptors.raiseLimit()
        #expect(count == Int(clamping: min(before.rlim_max, 1 << 20)))
        var after = rlimit()
        try #require(getrlimit(kind, &after) == 0)
        #expect(after.rlim_cur == min(before.rlim_max, 1 << 20) && after.rlim_max == before.rlim_max)
    }
}
