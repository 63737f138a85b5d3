// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Verification

/// A provider that gives the test's answers.
final class MemoryProvider: MessageProvider {
    private struct State {
        var messages: [OutboundMessage] = []
        var running = 0
        var mostRunning = 0
    }

    let name: String
    let channel: Channel
    let isIdempotent: Bool
    private let state = Mutex(State())
    private let journal: Journal
    private let answer: @Sendable (OutboundMessage) async -> ProviderAnswer

    init(
        _ name: String = "main",
        channel: Channel = .sms,
        isIdempotent: Bool = false,
        journal: Journal,
        answer: @escaping @Sendable (OutboundMessage) async -> ProviderAnswer = { _ in .init(.accepted, messageID: "1")
        }
    ) {
        (self.name, self.channel, self.journal, self.answer) = (name, channel, journal, answer)
        self.isIdempotent = isIdempotent
    }

    /// A provider that gives one answer to its first `calls` calls, and then accepts every message.
    static func taking(
        after calls: Int,
        of answer: ProviderAnswer,
        _ name: String = "main",
        journal: Journal
    ) -> MemoryProvider {
        let count = Mutex(0)
        return MemoryProvider(name, journal: journal) { _ in
            let call = count.withLock { count in
                count += 1
                return count
            }
            return call <= calls ? answer : ProviderAnswer(.accepted, messageID: "1")
        }
    }

    var messages: [OutboundMessage] { state.withLock(\.messages) }

    var mostRunning: Int { state.withLock(\.mostRunning) }

    func send(_ message: OutboundMessage) async -> ProviderAnswer {
        journal.note(.called(provider: name))
        state.withLock { state in
            state.messages.append(message)
            state.running += 1
            state.mostRunning = max(state.mostRunning, state.running)
        }
        defer { state.withLock { $0.running -= 1 } }
        return await answer(message)
    }
}
