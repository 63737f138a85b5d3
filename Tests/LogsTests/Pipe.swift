// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logging
import Testing

@testable import Logs

/// A pipe that the test reads.
final class Pipe {
    let readEnd: Int32
    let writeEnd: Int32
    private var isReadEndOpen = true

    init() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        (readEnd, writeEnd) = (ends[0], ends[1])
        // A read of the empty pipe must not block.
        _ = fcntl(readEnd, F_SETFL, O_NONBLOCK)
        signal(SIGPIPE, SIG_IGN)
    }

    deinit {
        if isReadEndOpen { close(readEnd) }
        close(writeEnd)
    }

    func closeReadEnd() {
        close(readEnd)
        isReadEndOpen = false
    }

    /// The bytes that were written and not read yet.
    func read() -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(readEnd, &buffer, buffer.count)
            guard count > 0 else { return bytes }
            bytes += buffer.prefix(count)
        }
    }

    var lines: [String] {
        String(decoding: read(), as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            .dropLast().map(String.init)
    }

    func output(_ format: LogFormat, isColored: Bool = false) -> LogOutput {
        LogOutput(
            descriptor: writeEnd,
            format: format,
            isColored: isColored,
            service: LogService(version: "1.2.3", instance: "host-1")
        )
    }
}
