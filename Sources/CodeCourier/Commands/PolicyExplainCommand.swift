// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Formats
import Logs
import PhoneNumbers
import SettingsReading
import Verification

struct PolicyExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Shows what each rule of a policy says of a request, in the order of the decision.",
        discussion: """
            The request is a file, - for standard input, or made from the options. Rules
            that need live state (request ids, slots, limits) are shown with their numbers;
            nothing is read from the database, and nothing is sent. Exit code 0 when the
            request would be sent, 1 when it would not, 2 when something cannot be read.

              code-courier policy explain policy.yaml --phone +16502530000
              code-courier policy explain policy.yaml --email ada@example.com \\
                --url https://example.com/
              code-courier policy explain policy.yaml --request request.json --json
            """
    )

    @Argument(help: ArgumentHelp("The policy file.", valueName: "policy.yaml"))
    var file: String

    @OptionGroup var options: ConfigurationOptions

    @Option(help: ArgumentHelp("The request's value as JSON; - for standard input.", valueName: "request.json"))
    var request: String?

    @Option(help: "The phone number in E.164 form: + and digits.")
    var phone: String?

    @Option(help: "The e-mail address, for a link.")
    var email: String?

    @Option(help: "With --email, where the link leads on to.")
    var url: String?

    @Option(
        help: """
            sign_up, sign_in, mfa_enrollment, mfa_sign_in, reauthentication, account_link or \
            app_verification; default: sign_in.
            """
    )
    var purpose: String?

    @Option(help: "The tenant whose policy decides; default: default.")
    var tenant: String?

    @Option(help: "The account; required for mfa_* and reauthentication.")
    var subject: String?

    @Option(help: "The IP address of the client.")
    var ip: String?

    @Flag(help: "The account has proved this number before.")
    var confirmed = false

    @Option(help: "Decide as of this time, such as 2026-11-20T12:00:00Z.")
    var at = TimeArgument.now

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        let parts = [
            ("--url", url != nil), ("--purpose", purpose != nil), ("--tenant", tenant != nil),
            ("--subject", subject != nil), ("--ip", ip != nil), ("--confirmed", confirmed),
        ]
        let given = parts.filter(\.1).map(\.0).joined(separator: ", ")
        guard request == nil || given.isEmpty else {
            throw ValidationError("--request has the whole request: leave out \(given)")
        }
        guard url == nil || email != nil else { throw ValidationError("--url needs --email") }
    }

    func run() async throws {
        let settings = try StartFailure.unwrap(
            PolicySettings.load(path: options.config, environment: options.environment)
        )
        let policy = try StartFailure.unwrap(PolicyFile.load(path: file, providers: settings.providers))
        guard let now = at.time(before: .now) else { throw StartFailure.report(["--at must be a time"]) }
        let explanation = PolicyExplanation(
            of: ExplainedRecord.make(value: try value(), at: now),
            policy: policy,
            numbers: PhoneNumberDirectory(),
            maxRequestAge: settings.maxRequestAge,
            now: now
        )
        if json { printOutput(explanation.json) } else { printOutput(explanation.text) }
        if explanation.isUnreadable { throw ExitCode(2) }
        guard explanation.isSent else { throw ExitCode(1) }
    }

    private func value() throws -> [UInt8] {
        switch (request, phone, email) {
        case (let path?, nil, nil): return try ExplainedRecord.read(path)
        case (nil, let phone?, nil): return json(.phone(PhoneArgument.normalized(phone)))
        case (nil, nil, let email?): return json(.email(email, url: url))
        default: throw StartFailure.report(["give one of --request, --phone and --email"])
        }
    }

    private func json(_ recipient: RequestDraft.Recipient) -> [UInt8] {
        RequestDraft(
            requestID: "explained",
            tenant: tenant ?? "default",
            purpose: purpose ?? "sign_in",
            recipient: recipient,
            subject: subject,
            ip: ip,
            isConfirmed: confirmed
        ).json
    }
}
