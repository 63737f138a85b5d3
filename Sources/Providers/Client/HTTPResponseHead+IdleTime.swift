// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1

extension HTTPResponseHead {
    /// The time for which the connection may be idle and still take a request, at most `longest`; nil when it takes
    /// none.
    ///
    /// Many servers close an idle connection after five seconds, and announce it: `Keep-Alive: timeout=5`. The
    /// connection is closed a second earlier, because a request written into a closing connection has an unknown
    /// outcome.
    func idleTime(upTo longest: TimeAmount) -> TimeAmount? {
        guard isKeepAlive else { return nil }
        guard let seconds = headers.first(name: "Keep-Alive").flatMap(Self.timeout) else { return longest }
        return seconds > 1 ? min(longest, TimeAmount.seconds(seconds - 1)) : nil
    }

    /// Parses the seconds of `timeout=5, max=100`.
    private static func timeout(_ text: String) -> Int64? {
        let parameters = text.lowercased().filter { $0 != " " && $0 != "\"" }.split(separator: ",")
        return parameters.first { $0.hasPrefix("timeout=") }.flatMap { Int64($0.dropFirst("timeout=".count)) }
    }
}
