// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
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

                The event that answers has a verificationId; with it and the code that came:

                  code-courier verify --verification … --code 123456

                Exit code 1: no event came within the seconds of --wait. The request stays.
                """
        )

        @OptionGroup var kafka: KafkaOptions

        @Option(help: "The phone number in E.164 form: + and digits.")
        var phone: String

        @Option(
            help: "sign_up, sign_in, mfa_enrollment, mfa_sign_in, reauthentication, account_link or app_verification."
        )
        var purpose = "sign_in"

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

        func run() async throws {
            let settings = try kafka.settings()
            let request = GatewayRequest(
                requestID: requestId ?? GatewayRequest.newID(),
                tenant: tenant,
                purpose: purpose,
                phoneNumber: PhoneArgument.normalized(phone),
                subject: subject,
                languageCode: language,
                isConfirmed: confirmed
            )
            var isAnswered = true
            do {
                let gateway = try await Gateway(settings)
                let place = try await gateway.send(request)
                print("request \(request.requestID) is on \(settings.topics.requests), \(place)")
                if wait > 0 { isAnswered = try await show(request, gateway) }
                await gateway.close()
            } catch {
                throw StartFailure.report([KafkaFault(error)])
            }
            if !isAnswered { throw ExitCode(1) }
        }

        /// Prints the event that answers the request; false when none came in time.
        private func show(_ request: GatewayRequest, _ gateway: Gateway) async throws -> Bool {
            guard let event = try await gateway.event(answering: request.requestID, within: .seconds(wait)) else {
                print("no event came within \(wait) s: is a worker running? (code-courier run)")
                return false
            }
            print(EventLine(event).text)
            return true
        }
    }
}
