// SPDX-License-Identifier: Apache-2.0

import Verification

extension ValueRule where Value == RateLimit {
    /// A count in a unit of time, such as `10/s`.
    static var rate: Self {
        let units: [String: Duration] = ["s": .seconds(1), "min": .seconds(60), "h": .seconds(3600)]
        let count = ValueRule<Int>.integer(in: 1...1_000_000)
        return Self(requirement: "must be a rate such as 10/s, 600/min or 5000/h, from 1 to 1000000 a unit") { text in
            let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, let count = count.parse(parts[0]), let unit = units[parts[1]] else { return nil }
            return RateLimit(count: count, per: unit)
        }
    }
}
