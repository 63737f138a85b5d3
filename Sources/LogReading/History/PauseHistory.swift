// SPDX-License-Identifier: Apache-2.0

import Formats

/// The pauses of providers, from workers' events or, where those are missing, from their heartbeats.
struct PauseHistory {
    struct Pause: Equatable {
        let provider: String
        let worker: String
        let from: Timestamp
        let to: Timestamp
    }

    private struct Key: Hashable {
        let provider: String
        let worker: String
    }

    /// The maximum number of stored pauses; further ones are only counted.
    static let most = 5000

    private(set) var pauses: [Pause] = []
    private(set) var omitted = 0
    private var open: [Key: Timestamp] = [:]

    mutating func pause(_ provider: String, by worker: String, at time: Timestamp) {
        let key = Key(provider: provider, worker: worker)
        guard open[key] == nil, open.count < Self.most else { return }
        open[key] = time
    }

    mutating func resume(_ provider: String, by worker: String, at time: Timestamp) {
        guard let from = open.removeValue(forKey: Key(provider: provider, worker: worker)) else { return }
        end(Pause(provider: provider, worker: worker, from: from, to: max(from, time)))
    }

    /// Ends open pauses at their worker's last line, since their real end is unknown.
    mutating func finish(lastSeen: (_ worker: String) -> Timestamp) {
        for (key, from) in open.sorted(by: { $0.value < $1.value }) {
            let to = max(from, lastSeen(key.worker))
            end(Pause(provider: key.provider, worker: key.worker, from: from, to: to))
        }
        open = [:]
    }

    private mutating func end(_ pause: Pause) {
        if pauses.count < Self.most { pauses.append(pause) } else { omitted += 1 }
    }
}
