// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logging
import Testing

@testable import Logs

@Suite struct `Writing lines` {
    private static func line(_ number: Int, of size: Int = 300) -> [UInt8] {
        let start = Array("\(number) ".utf8)
        return start + [UInt8](repeating: UInt8(ascii: "x"), count: size - start.count - 1) + [UInt8(ascii: "\n")]
    }

    @Test(arguments: [false, true], [300, 9001])
    func `that nobody reads waits once, and what is written is whole`(isNonBlocking: Bool, size: Int) throws {
        let pipe = try Pipe()
        if isNonBlocking { _ = fcntl(pipe.writeEnd, F_SETFL, O_NONBLOCK) }
        var writer = LineWriter(descriptor: pipe.writeEnd, maxWait: .milliseconds(50))
        let start = ContinuousClock.now
        for number in 0..<1000 { writer.write(Self.line(number, of: size)) }
        #expect(ContinuousClock.now - start < .seconds(20))
        #expect(writer.dropped > 0)
        var bytes = pipe.read()
        for number in 1000..<1010 {
            writer.write(Self.line(number, of: 50))
            bytes += pipe.read()
        }
        let lines = bytes.split(separator: UInt8(ascii: "\n"))
        #expect(lines.count == 1010 - writer.dropped)
        #expect(lines.allSatisfy { $0.count == size - 1 || $0.count == 49 })
        #expect(lines.last?.starts(with: Array("1009 ".utf8)) == true)
    }

    @Test func `whose reader is gone, or whose disk is full, drops them`() throws {
        let pipe = try Pipe()
        pipe.closeReadEnd()
        let full = open("/dev/full", O_WRONLY)
        defer { close(full) }
        for descriptor in [pipe.writeEnd, full, -1] {
            var writer = LineWriter(descriptor: descriptor)
            for number in 0..<100 { writer.write(Self.line(number)) }
            #expect(writer.dropped == 100)
        }
    }

    @Test func `that went lost is told of once somebody reads again`() throws {
        let pipe = try Pipe()
        let logger = pipe.output(.json).logger(level: .info)
        for _ in 0..<2000 { logger.log(.workerStopped) }
        _ = pipe.read()
        logger.log(.workerStopped)
        logger.log(.workerStopped)
        let lines = pipe.lines
        #expect(lines.count { $0.contains("log.dropped") } == 1)
        #expect(lines.count { $0.contains("worker.stopped") } >= 2)
    }
}
