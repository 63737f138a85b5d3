// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Formats
import KafkaClient
import Verification

struct RequestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "request",
        abstract: "Makes verification requests, as an API gateway would.",
        subcommands: [Send.self]
    )

    struct Send: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "send",
            abstract: "Puts one request on the request topic and shows the event that answers it.",
            discussion: """
                The request id makes a request safe to repeat: the same id again gets the
                same verification and sends nothing more. Another id for the same person is
                suppressed while the resend window is open.

                  code-courier request send --phone +16502530000
                  code-courier request send --phone +4915123456789 --language de \\
                    --purpose mfa_sign_in --subject user-1
                  code-courier request send --email ada@example.com \\
                    --url https://example.com/welcome

                The event that answers has a verificationId; with it and the code that came:

                  code-courier verify --verification … --code 123456

                Exit code 1: no message leaves, as the event says (rejected, failed,
                expired_unsent), or no event came within the seconds of --wait; then the
                request stays.
                """
        )

        @OptionGroup var kafka: KafkaOptions

        @Option(help: "A phone number in E.164 form: + and digits; - asks for it.")
        var phone: String?

        @Option(help: "An e-mail address; - asks for it.")
        var email: String?

        @Option(help: "With --email: send a link that leads on to this page, beside the code.")
        var url: String?

        @Option(help: "An APNs device token in hex, for a silent push.")
        var deviceToken: String?

        @Option(help: "With --device-token: the app's bundle identifier.")
        var bundleId: String?

        @Option(
            help: """
                sign_up, sign_in (default), mfa_enrollment, mfa_sign_in, reauthentication, account_link or \
                app_verification.
                """,
            transform: { try ChoiceArgument.value($0, of: "--purpose") }
        )
        var purpose = Purpose.signIn

        @Option(help: "The tenant whose policy decides.")
        var tenant = "default"

        @Option(help: "The idempotency key; default: a new one.")
        var requestId: String?

        @Option(help: "The account; required for mfa_* and reauthentication.")
        var subject: String?

        @Option(help: "The language of the message, such as de or pt-BR.")
        var language: String?

        @Flag(help: "The account has proved this number before.")
        var confirmed = false

        @Option(help: "Seconds to wait for the event that answers; 0 does not wait.")
        var wait = 10

        func validate() throws {
            guard [phone, email, deviceToken].count(where: { $0 != nil }) == 1 else {
                throw ValidationError("say to whom: one of --phone, --email and --device-token")
            }
            guard url == nil || email != nil else { throw ValidationError("--url needs --email") }
            guard (bundleId == nil) == (deviceToken == nil) else {
                throw ValidationError("give --device-token and --bundle-id together")
            }
            guard language.map(LanguageArgument.isValid) ?? true else {
                throw ValidationError("--language must be a language tag such as en or pt-BR")
            }
            guard wait >= 0 else { throw ValidationError("--wait must be a number of seconds") }
        }

        private func recipient() throws -> RequestDraft.Recipient {
            if let email { return .email(try PersonArgument.text(email, "e-mail address"), url: url) }
            if let deviceToken { return .device(token: deviceToken, bundleID: bundleId) }
            return .phone(PhoneArgument.normalized(try PersonArgument.text(phone ?? "", "phone number")))
        }

        func run() async throws {
            let settings = try kafka.settings()
            let request = RequestDraft(
                requestID: requestId ?? RequestDraft.newID(),
                tenant: tenant,
                purpose: purpose.rawValue,
                recipient: try recipient(),
                subject: subject,
                languageCode: language,
                isConfirmed: confirmed,
                requestedAt: .now
            )
            var isOnItsWay = true
            do {
                let gateway = try await Gateway(settings)
                let place = try await gateway.send(request)
                printOutput(["request \(request.requestID) is on \(settings.topics.requests), \(place)"])
                if wait > 0 { isOnItsWay = try await show(request, gateway) }
                await gateway.close()
            } catch {
                throw StartFailure.report([KafkaFault(error)])
            }
            if !isOnItsWay { throw ExitCode(1) }
        }

        /// Prints the event that answers the request, and the outcome of one that is pending.
        ///
        /// False when it says that no message leaves, or if no event comes in time.
        private func show(_ request: RequestDraft, _ gateway: Gateway) async throws -> Bool {
            let end = ContinuousClock.now + .seconds(wait)
            guard var line = try await next(request, gateway, until: end) else {
                printOutput(["no event came within \(wait) s: is a worker running? (code-courier run)"])
                return false
            }
            while line.reason == "send_pending", let later = try await next(request, gateway, until: end) {
                line = later
            }
            // Not wrapped, since people copy it.
            if let next = Self.next(line, request) { printOutput(Array(next.utf8)) }
            return Self.isOnItsWay(line.status)
        }

        /// Prints the request's next event; nil when none comes.
        private func next(
            _ request: RequestDraft,
            _ gateway: Gateway,
            until end: ContinuousClock.Instant
        ) async throws -> EventLine? {
            let left = end - ContinuousClock.now
            guard let event = try await gateway.event(answering: request.requestID, within: left) else { return nil }
            let line = EventLine(event)
            printOutput([line.text])
            return line
        }

        /// True for an event after which the person may get a message.
        static func isOnItsWay(_ status: String?) -> Bool {
            ["sent", "delivered", "suppressed", "unknown"].contains(status ?? "")
        }

        /// The command that checks the code of this message, or of an earlier one; for some refusals, the advice.
        static func next(_ event: EventLine, _ request: RequestDraft) -> String? {
            if event.reason == "quota_tenant" {
                return "the tenant has used up limits.perTenant of the policy, 1000 a minute by default:"
                    + " docs/policy.md#limits"
            }
            guard let id = event.verificationID, ["sent", "delivered", "suppressed"].contains(event.status) else {
                return nil
            }
            let code: String
            switch request.recipient {
            case .phone: code = "--code …"
            case .email: code = "--code … --email …"
            case .device: return nil
            }
            let tenant = request.tenant == "default" ? "" : " --tenant \(request.tenant)"
            let purpose = request.purpose == "sign_in" ? "" : " --purpose \(request.purpose)"
            let which: String
            switch (event.status, event.reason) {
            case ("suppressed", "send_pending"): which = "the code is on its way; when it came"
            case ("suppressed", _): which = "the code of the earlier message is good"
            default: which = "with its code"
            }
            return "\(which): code-courier verify --verification \(id) \(code)\(tenant)\(purpose)"
        }
    }
}
