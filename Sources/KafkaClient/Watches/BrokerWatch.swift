// SPDX-License-Identifier: Apache-2.0

/// Finds outages of all brokers, and their ends.
struct BrokerWatch: Watch {
    private(set) var areReachable = true

    /// The latest connection fault since a broker was last reached.
    private var connectionFault: KafkaError?

    mutating func see(_ event: WatchEvent, at now: ContinuousClock.Instant) -> [WatchAction] {
        switch event {
        // Of rebalances, only an assignment proves that a broker answered: the client detects an expired session itself.
        case .record, .end, .assigned, .committed:
            defer { (areReachable, connectionFault) = (true, nil) }
            return areReachable ? [] : [.notify(.brokersReachable)]
        case .error(let error):
            if error.broker != nil { connectionFault = error }
            guard error.code == .allBrokersDown else { return [] }
            defer { areReachable = false }
            return areReachable ? [.notify(.brokersUnreachable(connectionFault))] : []
        default:
            return []
        }
    }
}
