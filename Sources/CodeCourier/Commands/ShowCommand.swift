// SPDX-License-Identifier: Apache-2.0

import Administration
import ArgumentParser
import Formats
import Foundation
import Verification

struct ShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Answers \"where is my code?\": the story of one request.",
        discussion: """
            It takes a verificationId, a request id, a phone number or an e-mail address,
            and shows the request's answer, its verification, each message with its
            provider, and what to do next. Of a number or address it shows the newest
            verification of each purpose. It changes nothing, and prints no recipient.

              export POSTGRES_URL_FILE=operator-url
              code-courier show --config courier.yaml 019a4f6e-6f10-7b11-9d22-33e44f556a66
              code-courier show --config courier.yaml signup-4711 --tenant shop
              code-courier show --config courier.yaml - --json

            Other users of the machine can see a command's arguments: a single hyphen asks
            for the value, or reads it from a pipe.

            The login needs the role courier_operator and no other; for a number or an
            address, keys.fingerprint has to be the workers' whole ring. Exit code 1: there
            is nothing. It looks into one database: with several cells, into each.
            """
    )

    @OptionGroup var database: OperatorDatabaseOptions

    @Argument(help: ArgumentHelp("What to look for; - asks for it.", valueName: "id, number or address"))
    var subject: String

    @Option(help: "The tenant; default: default for a request id, otherwise all tenants.")
    var tenant: String?

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let wanted = ShownSubject(try PersonArgument.text(subject, "id, number or address"))
        let fingerprints = try fingerprints(of: wanted)
        let output = try await database.withPool(for: "show") { pool in
            try await look(for: wanted, fingerprints, StoryReader(pool: pool))
        }
        if json { printOutput(output.json) } else { printOutput(output.lines) }
        if output.isEmpty { throw ExitCode(1) }
    }

    private func look(
        for wanted: ShownSubject,
        _ fingerprints: [[UInt8]],
        _ reader: StoryReader
    ) async throws -> StoryOutput {
        var output = StoryOutput(of: wanted)
        switch wanted {
        case .recipient:
            for id in try await reader.verifications(fingerprints: fingerprints, tenant: tenant) {
                if let story = try await reader.story(of: id) { output.stories.append(story) }
            }
        case .id(let text):
            if let uuid = UUIDValue(text), let story = try await reader.story(of: VerificationID(uuid)) {
                output.stories = [story]
                break
            }
            output.answer = try await reader.answer(tenant: tenant ?? "default", requestID: text)
            if let id = output.answer?.verificationID, let story = try await reader.story(of: id) {
                output.stories = [story]
            }
        }
        return output
    }

    private func fingerprints(of wanted: ShownSubject) throws -> [[UInt8]] {
        guard case .recipient(let recipient) = wanted else { return [] }
        return try database.options.read(KeySettings.readFingerprint).all.map { recipient.fingerprint(key: $0) }
    }
}

/// The subject of an operator's question.
enum ShownSubject {
    case recipient(Recipient)

    /// A verificationId or a request id.
    case id(String)

    init(_ text: String) {
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        if trimmed.contains("@"), let address = EmailAddress(trimmed) {
            self = .recipient(.email(address))
        } else if trimmed.hasPrefix("+") || trimmed.hasPrefix("00"), let number = PhoneArgument.parse(trimmed) {
            self = .recipient(.phone(number))
        } else {
            self = .id(trimmed)
        }
    }
}
