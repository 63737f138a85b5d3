// SPDX-License-Identifier: Apache-2.0

/// The scopes of one tenant that are blocked or half open, as workers know them.
package struct BrakeSnapshot: Sendable, Equatable {
    private let states: [BrakeKey: BrakeBlock.State]

    package init(_ blocks: some Sequence<BrakeBlock>) {
        states = Dictionary(
            blocks.lazy.filter { $0.state != .ended }.map { ($0.key, $0.state) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    package var isEmpty: Bool { states.isEmpty }

    /// The narrowest scope that stops an unconfirmed person's request, and whether it lets probes through.
    ///
    /// A range or a region, which holds strangers, does not stop a request whose app has passed its verification.
    package func stop(
        client: Int64?,
        prefix: Int64?,
        range: Int64?,
        region: String,
        isTrusted: Bool
    ) -> (key: BrakeKey, isHalfOpen: Bool)? {
        if states.isEmpty { return nil }
        var keys = [client.map { BrakeKey(.ip, $0) }, prefix.map { BrakeKey(.prefix, $0) }]
        if !isTrusted { keys += [range.map { BrakeKey(.range, $0) }, BrakeKey(region: region)] }
        for case let key? in keys {
            if let state = states[key] { return (key, state == .halfOpen) }
        }
        return nil
    }
}
