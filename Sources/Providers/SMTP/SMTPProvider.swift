// SPDX-License-Identifier: Apache-2.0

import Logs
import SMTPClient
import Synchronization
package import Verification

/// E-mail by SMTP, each message over a connection of its own, so that no message is ever handed over twice.
///
/// libcurl blocks, so calls run on threads of the provider's own, one for each connection. A message that finds none free
/// for a while goes back, untried.
package struct SMTPProvider: MessageProvider {
    package let name: String
    package var channel: Channel { .email }

    /// How long a message waits for a connection, marked as one that may leave.
    private static let patience = Duration.seconds(1)

    private let configuration: SMTPConfiguration
    private let threads: MailThreads
    private let refusals = Refusals()

    /// One streak of all messages of a provider, which is a value.
    private final class Refusals: Sendable {
        let streak = Mutex(RefusalStreak())
    }

    package init(name: String, configuration: SMTPConfiguration) {
        self.name = name
        self.configuration = configuration
        threads = MailThreads(count: configuration.connections)
    }

    package func send(_ message: OutboundMessage) async -> ProviderAnswer {
        guard case .email(let email) = message.content else {
            return ProviderAnswer(.misconfigured, errorCode: "channel")
        }
        let deadline = min(message.callDeadline, .seconds(3600))
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

    /// The one whom a refusal concerns, by what other recipients had before it.
    private func scope(of result: SMTPResult, to recipient: EmailAddress) -> SMTPAnswer.Scope {
        refusals.streak.withLock { streak in
            if SMTPAnswer.isAmbiguous(result) { return streak.refused(recipient) ? .host : .message }
            // Whatever came before the recipient's turn tells nothing of it.
            if result.step >= .recipient, let reply = result.reply, reply != 421 { streak.served() }
            return .message
        }
    }

    /// Has a thread make the call, and waits for its outcome no longer than until the deadline or a cancellation.
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
            server.deliver(envelope, within: ContinuousClock.now.duration(to: end), listener: call)
        }
        return await withTaskGroup(of: Void.self) { group in
            group.addTask {
                // The patience and the deadline themselves. A cancelled sleep ends at once, which is just what is wanted.
                try? await Task.sleep(until: min(.now + Self.patience, end), clock: .continuous)
                if !Task.isCancelled { call.giveUpUnlessBegun() }
                try? await Task.sleep(until: end, clock: .continuous)
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
