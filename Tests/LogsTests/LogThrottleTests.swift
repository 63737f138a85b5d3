// SPDX-License-Identifier: Apache-2.0

import Formats
import Logging
import Testing

@testable import Logs

@Suite struct `Lines that are alike` {
    private static let key = LogThrottle.Key(event: "provider.refused", values: ["main"])

    @Test func `pass at first, and are counted for the rest of the window`() {
        let start = ContinuousClock.now
        var throttle = LogThrottle(burst: 3, length: .seconds(10))
        let passed = (0..<20).filter { throttle.passes(Self.key, at: start + .milliseconds(100 * $0)) }
        #expect(passed == [0, 1, 2])
        let isOtherWritten = throttle.passes(LogThrottle.Key(event: "provider.refused", values: ["other"]), at: start)
        #expect(isOtherWritten)
        let early = throttle.ended(at: start + .seconds(9))
        #expect(early.isEmpty)
        let ended = throttle.ended(at: start + .seconds(10))
        #expect(ended.count == 1)
        #expect(ended.first?.key == Self.key)
        #expect(ended.first?.suppressed == 17)
        let isWrittenAgain = throttle.passes(Self.key, at: start + .seconds(11))
        #expect(isWrittenAgain)
    }

    @Test func `are bounded in kind`() {
        let start = ContinuousClock.now
        var throttle = LogThrottle(burst: 1, length: .seconds(10), maximumKeys: 10)
        let passed = (0..<1000).filter {
            throttle.passes(LogThrottle.Key(event: "kafka.error", values: ["\($0)"]), at: start)
        }
        #expect(passed.count == 11)
        let ended = throttle.ended(at: start + .seconds(10))
        #expect(ended.map(\.suppressed) == [989])
    }

    @Test func `are written five times, and those of different fields each`() throws {
        let pipe = try Pipe()
        let logger = pipe.output(.json).logger(level: .info)
        for number in 0..<20 {
            logger.log(.providerRefused, [.provider: "main", .outcome: "refused", .requestID: "\(number)"])
            logger.log(.providerRefused, [.provider: "backup", .outcome: "refused", .requestID: "\(number)"])
            logger.log(.sendUnknown, [.provider: "main"])
        }
        let lines = pipe.lines
        #expect(lines.count { $0.contains("main") && $0.contains("provider.refused") } == 5)
        #expect(lines.count { $0.contains("backup") } == 5)
        #expect(lines.count { $0.contains("send.unknown") } == 20)
    }
}
