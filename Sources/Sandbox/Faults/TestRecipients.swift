// SPDX-License-Identifier: Apache-2.0

/// Recipients whose messages always have the same outcome, so that a test need not script a fault.
///
/// docs/sandbox.md lists them. The numbers are from a range reserved for fiction, but valid for a worker.
enum TestRecipients {
    private static let numbers = "+120255501"

    /// The fault of a message to this recipient; nil for an ordinary one.
    static func fault(of recipient: String, by provider: SandboxProvider) -> Fault? {
        switch provider {
        case .smtp: mailFault(String(recipient.prefix { $0 != "@" }))
        case .apns: nil
        case .twilio, .vonage, .vonageMessages, .sns, .http:
            recipient.hasPrefix(numbers) ? textFault(recipient.dropFirst(numbers.count), provider) : nil
        }
    }

    private static func textFault(_ ending: Substring, _ provider: SandboxProvider) -> Fault? {
        switch ending {
        case "71": .receipt(.undelivered(code: code(provider, twilio: 30003, vonage: 2, messages: 1180)))
        case "72": .receipt(.undelivered(code: code(provider, twilio: 30007, vonage: 6, messages: 1210)))
        case "73": .receipt(.undelivered(code: code(provider, twilio: 30005, vonage: 3, messages: 1190)))
        case "74": .receipt(.lost)
        case "75": .receipt(.late(.seconds(20)))
        case "76": .receipt(.doubled(.seconds(1)))
        case "80": refusal(provider, twilio: 21211, vonage: 6, messages: 1170, "InvalidParameter", "invalid_number")
        case "81": refusal(provider, twilio: 21610, vonage: 7, messages: 1240, "OptedOut", "opted_out")
        case "82": .status(429, code: nil, retryAfter: 2)
        case "83": .status(503, code: nil, retryAfter: nil)
        case "84": .delay(.seconds(5))
        case "85": .cut(.after)
        case "86": .cut(.before)
        default: nil
        }
    }

    private static func mailFault(_ name: String) -> Fault? {
        switch name {
        case "refused": .error(code: 550)
        case "later": .error(code: 450)
        case "slow": .delay(.seconds(5))
        case "lost": .cut(.after)
        default: nil
        }
    }

    private static func code(_ provider: SandboxProvider, twilio: Int, vonage: Int, messages: Int) -> Int {
        switch provider {
        case .vonage: vonage
        case .vonageMessages: messages
        case .twilio, .sns, .http, .smtp, .apns: twilio
        }
    }

    private static func refusal(
        _ provider: SandboxProvider,
        twilio: Int,
        vonage: Int,
        messages: Int,
        _ sns: String,
        _ word: String
    ) -> Fault {
        switch provider {
        case .sns: .reason(sns)
        case .http: .reason(word)
        case .twilio, .vonage, .vonageMessages, .smtp, .apns:
            .error(code: code(provider, twilio: twilio, vonage: vonage, messages: messages))
        }
    }
}
