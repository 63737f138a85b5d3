// SPDX-License-Identifier: Apache-2.0

import Administration
import ArgumentParser
import Formats
import PostgresClient
import Verification

struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Checks a code, as a verifier service would: through courier.check_code alone.",
        discussion: """
            Exit code 0 when the code is right, 1 when it is not. Wrong guesses count; the
            last of code.maxChecks (5) locks the verification.

            The code is read as people type it: with spaces, dashes, digits of any script,
            or words around it. What cannot be a code is answered not_a_code and counts
            as no guess.

            A verification by e-mail needs the address as well, and takes the link's
            oobCode or the code beside it. Tenant and purpose are part of the hash: with
            others than the request's the right code is wrong.

              POSTGRES_URL_FILE=verifier-url code-courier verify \\
                --verification 019a… --code 123456
              code-courier verify --verification 019a… --code AbtdA… \\
                --email ada@example.com --purpose sign_up

            It needs keys.hash, for e-mail keys.fingerprint, and a login with the role
            courier_verifier. docs/verifiers.md says how to write a verifier of your own.
            """
    )

    @OptionGroup var options: ConfigurationOptions

    @Option(help: "The verificationId of the delivery event.")
    var verification: String

    @Option(help: "What the person typed, or a link's oobCode.")
    var code: String

    @Option(help: "How many digits the code has, as code.length of the event says; default: 4 to 10.")
    var digits: Int?

    @Option(help: "The e-mail address that the person gives; required for the channel email.")
    var email: String?

    @Option(help: "The tenant of the request.")
    var tenant = "default"

    @Option(help: "The purpose of the request.")
    var purpose = "sign_in"

    @Option(help: "The database as a libpq URI; default: the configuration's.")
    var postgresURL: String?

    func validate() throws {
        guard UUIDValue(verification) != nil else { throw ValidationError("--verification must be a UUID") }
        guard digits.map(TypedCode.lengths.contains) ?? true else {
            throw ValidationError("--digits must be a number from 4 to 10")
        }
        let _: Purpose = try ChoiceArgument.value(purpose, of: "--purpose")
        guard email.map({ EmailAddress($0) != nil }) ?? true else {
            throw ValidationError("--email must be an e-mail address")
        }
    }

    func run() async throws {
        guard let uuid = UUIDValue(verification) else { return }
        let purpose: Purpose = try ChoiceArgument.value(purpose, of: "--purpose")
        let keys = try options.read(KeySettings.readHash)
        let guess = Verifier.Guess(
            VerificationID(uuid),
            tenant: tenant,
            purpose: purpose,
            code: code,
            digits: digits.map { $0...$0 } ?? TypedCode.lengths,
            recipientFingerprint: try fingerprint()
        )
        let url = try options.databaseURL(or: postgresURL)
        let configuration = PostgresConfiguration(url: url, applicationName: "code-courier verify")
        let answer = try await CommandDatabase.with(configuration, role: "courier_verifier") { pool in
            try await Verifier(pool: pool, hashKeys: keys).check(guess)
        }
        let left = answer.checksLeft.map { ", \($0) guesses left" } ?? ""
        print(answer.status == .incorrect ? "incorrect\(left)" : answer.status.rawValue)
        if answer.status == .notFound { printError("the id names cell \(uuid.cell): is this its database?") }
        guard answer.status == .approved else { throw ExitCode(1) }
    }

    private func fingerprint() throws -> [UInt8]? {
        guard let address = email.flatMap({ EmailAddress($0) }) else { return nil }
        let keys = try options.read(KeySettings.readFingerprint)
        return Recipient.email(address).fingerprint(key: keys.active)
    }
}
