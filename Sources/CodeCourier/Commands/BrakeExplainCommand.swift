// SPDX-License-Identifier: Apache-2.0

import Administration
import ArgumentParser
import Formats
import PhoneNumbers
import SettingsReading
import Verification

struct BrakeExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Shows the blocks that hold a request, and what would be decided now.",
        discussion: """
            One line for each scope: its block, the approvals of an hour that were expected
            and observed when the block began, the surprise in nats and how much of it a
            block needs, and the effect on this request by the policy in force. Limits,
            which come first, are not read. Exit code 0 when it would be sent, 1 when it
            would be refused, 2 when something cannot be read.

              code-courier brake explain --config courier.yaml --phone -
              code-courier brake explain --config courier.yaml --phone +16502530000 \\
                --ip 192.0.2.1 --app-verified --json

            Next: code-courier brake lift, code-courier brake allow.
            """
    )

    @OptionGroup var database: OperatorDatabaseOptions

    @Option(help: ArgumentHelp("The phone number in E.164 form; - asks for it.", valueName: "number"))
    var phone: String

    @Option(help: "The IP address of the client.")
    var ip: String?

    @Option(help: "The tenant.")
    var tenant = "default"

    @Option(help: ArgumentHelp("The policy; default: the configuration's.", valueName: "policy.yaml"))
    var policy: String?

    @Flag(help: "The account has proved this number before.")
    var confirmed = false

    @Flag(help: "The platform has verified the app: silent_push, play_integrity or app_attest.")
    var appVerified = false

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let policy = try database.loadPolicy(policy)
        guard let rules = policy.tenants[tenant] else {
            throw StartFailure.report([TenantArgument.fault(tenant, among: policy.tenants.keys, of: "the policy")])
        }
        let keys = try database.options.read(KeySettings.readFingerprint)
        let subject = try subject(keys, policy)
        let state = try await database.withBrake { desk in
            try await desk.checkKeys(keys.checkValues(as: "fingerprint"))
            return try await desk.state(tenant: tenant)
        }
        let explanation = BrakeExplanation(of: subject, policy: rules.brake, version: policy.version, state: state)
        if json { printOutput(explanation.json) } else { printOutput(explanation.text) }
        if explanation.isRefused { throw ExitCode(1) }
    }

    private func subject(_ keys: KeyRing, _ policy: Policy) throws -> BrakeSubject {
        let number = try BrakeArgument.number(phone)
        let address = try ip.map(BrakeArgument.address)
        let numbers = PhoneNumberDirectory()
        let fingerprint = Recipient.phone(number).fingerprint(key: keys.active)
        return BrakeSubject(
            tenant: tenant,
            keys: BrakeKeys(of: number, from: address, isConfirmed: confirmed, by: BrakeHash(keys.active)),
            region: policy.numberPlan.facts(of: number) { numbers.facts(of: number) }.region,
            number: number,
            address: address,
            recipient: BrakeSubject.recipientKey(fingerprint),
            isTrusted: appVerified
        )
    }
}
