// SPDX-License-Identifier: Apache-2.0

import Administration
import ArgumentParser
import Formats
import Foundation
import SettingsReading
import Verification

struct EraseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase",
        abstract: "Erases what the database holds of one recipient.",
        discussion: """
            Ends the recipient's live verifications, takes back messages that have not
            left, and removes the recipient, its fingerprint and its account from every
            table. The login needs the role courier_operator and no other;
            keys.fingerprint has to be the workers' whole ring. Without --tenant it is
            done for all tenants.

            It is done in one database: with several cells, run it once for each.

            Other users of the machine can see a command's arguments: a single hyphen asks
            for the recipient, or reads it from a pipe.

              export POSTGRES_URL_FILE=operator-url
              code-courier erase --config courier.yaml --phone -
              code-courier erase --config courier.yaml --email - --dry-run < address.txt

            What stays has no recipient: request ids with a keyed digest, for as long as a
            request may come again, and the ids of messages. Events that Kafka has stay
            there for as long as its topics keep them, with the masked recipient.
            """
    )

    @OptionGroup var database: OperatorDatabaseOptions

    @Option(
        name: [.customLong("phone"), .customLong("phone-number")],
        help: ArgumentHelp("A phone number: + and digits; - asks for it.", valueName: "number")
    )
    var phone: String?

    @Option(help: ArgumentHelp("An e-mail address; - asks for it.", valueName: "address"))
    var email: String?

    @Option(help: ArgumentHelp("An APNs device token in hex; - asks for it.", valueName: "token"))
    var deviceToken: String?

    @Option(help: "The tenant whose recipient it is; default: all tenants.")
    var tenant: String?

    @Flag(help: "Say what would be erased, and change nothing.")
    var dryRun = false

    func validate() throws {
        guard [phone, email, deviceToken].count(where: { $0 != nil }) == 1 else {
            throw ValidationError("say who: one of --phone, --email and --device-token")
        }
    }

    func run() async throws {
        let recipient = try recipient()
        let keys = try database.options.read(KeySettings.readFingerprint)
        let fingerprints = keys.all.map { recipient.fingerprint(key: $0) }
        // No index has the fingerprint, so all verifications are scanned.
        let report = try await database.withPool(for: "erase", statementTimeout: .seconds(600)) { pool in
            let eraser = Eraser(pool: pool)
            try await eraser.checkKeys(keys.checkValues(as: "fingerprint"))
            return try await eraser.erase(fingerprints: fingerprints, tenant: tenant, isRehearsal: dryRun)
        }
        ErasureOutput(report: report, recipient: recipient, isRehearsal: dryRun).write()
    }

    private func recipient() throws -> Recipient {
        if let phone {
            let text = try PersonArgument.text(phone, "phone number")
            guard let number = PhoneArgument.parse(text) else { throw fault("--phone must be + and digits") }
            return .phone(number)
        }
        if let email {
            let text = try PersonArgument.text(email, "e-mail address")
            guard let address = EmailAddress(text) else { throw fault("--email must be an e-mail address") }
            return .email(address)
        }
        let text = try PersonArgument.text(deviceToken ?? "", "device token")
        // A device's fingerprint does not include the app.
        guard let token = DeviceToken(hex: text, bundleID: "any", environment: .unknown) else {
            throw fault("--device-token must be 64 to 200 hex digits")
        }
        return .device(token)
    }

    private func fault(_ text: String) -> ExitCode { StartFailure.report([text]) }
}

/// The result of an erasure: lines for a person, or one JSON object on a pipe.
struct ErasureOutput {
    let report: Eraser.Report
    let recipient: Recipient
    let isRehearsal: Bool

    private var counts: [(table: String, rows: Int64)] {
        [
            ("person", report.persons), ("receipt", report.receipts), ("send", report.sends),
            ("verification", report.verifications),
        ]
    }

    func write() {
        if isatty(STDOUT_FILENO) == 1 { printOutput(lines) } else { printOutput(json) }
    }

    private var isEmpty: Bool { counts.allSatisfy { $0.rows == 0 } }

    var lines: [String] {
        if isEmpty {
            return [
                "\(recipient.masked): nothing found",
                "next: check the number or address, --tenant, and whether this is the database of its cell",
            ]
        }
        let verb = isRehearsal ? "would be erased" : "erased"
        let width = counts.map(\.table.count).max() ?? 0
        return ["\(recipient.masked): \(verb)"]
            + counts.map { table, rows in
                "  " + table + String(repeating: " ", count: width - table.count) + "  \(Int(rows).grouped)"
            } + ["  verifications that were live: \(Int(report.cancelled).grouped)"]
    }

    var json: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("recipient", recipient.masked)
            writer.member("dryRun", isRehearsal)
            writer.object("rows") { rows in
                for (table, count) in counts { rows.member(named: table, count) }
            }
            writer.member("cancelled", report.cancelled)
        }
        return writer.bytes
    }
}
