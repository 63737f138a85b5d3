// SPDX-License-Identifier: Apache-2.0

import Formats
import Logs
import NIOPosix
import SMTPClient
import Synchronization
package import Verification

/// Sends e-mail by SMTP, each message over a connection of its own, so that no message is handed over twice.
///
/// libcurl blocks, so calls run on threads of the provider's own, one for each connection. A message that finds no free
/// connection within `maxWait` is returned unsent.
package struct SMTPProvider: MessageProvider {
    package var name: String { configuration.name }
    package var channel: Channel { .email }

    /// The maximum time that a claimed message waits for a connection.
    private static let maxWait = Duration.seconds(1)

    /// Far beyond a call's deadline, since libcurl counts a freeze of the process and would then read no more.
    private static let longestSession = Duration.seconds(3600)

    private let configuration: SMTPConfiguration
    private let threads: MailThreads
    private let refusals = Refusals()

    /// A shared reference, so that all copies of the provider use one streak of refusals.
    private final class Refusals: Sendable {
        let streak = Mutex(RefusalStreak())
    }

    package init(configuration: SMTPConfiguration) {
        self.configuration = configuration
        threads = MailThreads(count: configuration.connections)
    }

    package func send(_ message: OutboundMessage) async -> ProviderAnswer {
        guard case .email(let email) = message.content else {
            return ProviderAnswer(.misconfigured, errorCode: "channel")
        }
        let deadline = min(message.callDeadline, Self.longestSession)
        guard deadline > .zero else { return ProviderAnswer(.notSent, errorCode: SMTPFailure.timeout.rawValue) }
        guard let recipient = MailAddress(email.recipient) else {
            return ProviderAnswer(.refused, errorCode: "recipient_domain")
        }
        let mail = MailMessage(
            email: email,
            recipient: recipient,
            sendID: message.sendID,
            from: configuration.from,
            date: .now
        )
        let result = await deliver(mail, by: .now + deadline, leavingBy: message.leaveBy)
        if result.failure == .utf8Unavailable, !configuration.from.needsUTF8 {
            return ProviderAnswer(.refused, errorCode: SMTPFailure.utf8Unavailable.rawValue)
        }
        return SMTPAnswer.classify(result, messageID: mail.messageID, scope: scope(of: result, to: email.recipient))
    }

    /// The scope of a refusal, judged by the refusals of other recipients before it.
    private func scope(of result: SMTPResult, to recipient: EmailAddress) -> SMTPAnswer.Scope {
        refusals.streak.withLock { streak in
            if SMTPAnswer.isAmbiguous(result) { return streak.refused(recipient) ? .host : .message }
            // A reply before the RCPT command says nothing about a recipient.
            if result.step >= .recipient, let reply = result.reply, reply != 421 { streak.served() }
            return .message
        }
    }

    /// Makes the call on a thread, and waits for its outcome until the deadline or a cancellation.
    private func deliver(
        _ mail: MailMessage,
        by end: ContinuousClock.Instant,
        leavingBy leaveBy: ContinuousClock.Instant
    ) async -> SMTPResult {
        let call = SMTPCall(leaveBy: leaveBy)
        let server = configuration.server
        let envelope = SMTPEnvelope(
            sender: mail.from.text,
            recipient: mail.recipient.text,
            needsUTF8: mail.from.needsUTF8 || mail.recipient.needsUTF8,
            content: mail.bytes
        )
        threads.submit(call) {
            guard .now < leaveBy else { return call.giveUp(.tooLate) }
            server.deliver(envelope, within: Self.longestSession, listener: call)
        }
        return await withTaskGroup(of: Void.self) { group in
            group.addTask {
                // First `maxWait`, then the deadline. A cancelled sleep ends at once, as intended.
                try? await Task.sleep(until: min(.now + Self.maxWait, end), clock: .continuous)
                if !Task.isCancelled { call.giveUpUnlessBegun() }
                await CallDeadline.wait(until: end)
                call.giveUp(Task.isCancelled ? .cancelled : .timeout)
            }
            let result = await call.result()
            group.cancelAll()
            return result
        }
    }
}

extension SMTPProvider: CustomStringConvertible, CustomReflectable {
    package var description: String { "SMTPProvider(\(name))" }
    package var customMirror: Mirror { Mirror(self, children: ["configuration": configuration]) }
}

/// A fixed number of threads for blocking calls; they end when the owner is released.
final class MailThreads: Sendable {
    private let pool: NIOThreadPool

    init(count: Int) {
        pool = NIOThreadPool(numberOfThreads: max(1, count))
        pool.start()
    }

    deinit {
        // Calls in progress end by themselves; nothing waits for the threads, and an error could not be handled.
        pool.shutdownGracefully { _ in }
    }

    /// Runs a call on the next free thread, in order, unless it was given up by then.
    func submit(_ call: SMTPCall, _ work: @escaping @Sendable () -> Void) {
        pool.submit { state in
            if case .active = state, call.begin() {
                work()
            } else {
                call.giveUp(.cancelled)
            }
        }
    }
}

/// Distinguishes a server that refuses every message from one that refuses one person's.
///
/// It counts the distinct recipients of consecutive ambiguous refusals. One person has few addresses: refusals of up to
/// `longestOfOnePerson` of them, however often repeated, do not affect other messages.
struct RefusalStreak: Sendable {
    static let longestOfOnePerson = 5

    /// Hashes, so that no address is stored here; at most one more than the limit.
    private var recipients: Set<Int> = []

    /// Records an ambiguous refusal; true when it counts as a refusal of this host.
    mutating func refused(_ recipient: EmailAddress) -> Bool {
        if recipients.count <= Self.longestOfOnePerson { recipients.insert(Self.person(recipient)) }
        return recipients.count > Self.longestOfOnePerson
    }

    /// Records any other answer about a recipient or a message: the server does accept mail from this host.
    mutating func served() {
        recipients.removeAll()
    }

    /// Hashes a recipient without its `+tag`, which many servers let people choose freely.
    private static func person(_ recipient: EmailAddress) -> Int {
        let local = recipient.local.lowercased().prefix { $0 != "+" }
        return "\(local)@\(recipient.domain)".hashValue
    }
}
