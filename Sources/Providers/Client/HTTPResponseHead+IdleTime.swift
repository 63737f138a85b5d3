// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1

extension HTTPResponseHead {
    /// How long its connection may be idle and still take a request, `longest` at most; nil when it takes none.
    ///
    /// Many servers close an idle connection after five seconds, and say so: `Keep-Alive: timeout=5`. It is given up a
    /// second before, because a request written into a closing connection has an unknown outcome.
    func idleTime(upTo longest: TimeAmount) -> TimeAmount? {
        guard isKeepAlive else { return nil }
        guard let seconds = headers.first(name: "Keep-Alive").flatMap(Self.timeout) else { return longest }
        return seconds > 1 ? min(longest, TimeAmount.seconds(seconds - 1)) : nil
    }

    /// The seconds of `timeout=5, max=100`.
    private static func timeout(_ text: String) -> Int64? {
        let parameters = text.lowercased().filter { $0 != " " && $0 != "\"" }.split(separator: ",")
        return parameters.first { $0.hasPrefix("timeout=") }.flatMap { Int64($0.dropFirst("timeout=".count)) }
    }
}
