// SPDX-License-Identifier: Apache-2.0

import Administration
import ArgumentParser
import Formats
import SettingsReading
import Verification

/// The options that name one scope of a tenant.
struct BrakeTargetOptions: ParsableArguments {
    @OptionGroup var database: OperatorDatabaseOptions

    @Option(help: "The tenant.")
    var tenant = "default"

    @Option(help: ArgumentHelp("A phone number in E.164 form, for the scope's; - asks for it.", valueName: "number"))
    var phone: String?

    @Option(help: "The IP address of a client.")
    var ip: String?

    @Option(help: "A region, such as BR.")
    var region: String?

    @Option(help: "A key as code-courier brake list prints it.")
    var key: String?

    @Option(help: "With --phone: phone, prefix or range. With --key: ip, prefix or range.")
    var scope: BrakeOverride.Scope?

    func validate() throws {
        guard [phone, ip, region, key].count(where: { $0 != nil }) == 1 else {
            throw ValidationError("say which scope: one of --phone, --ip, --region and --key")
        }
        let scopes: [BrakeOverride.Scope]? =
            phone != nil ? [.phone, .prefix, .range] : key != nil ? [.ip, .prefix, .range] : nil
        if let scopes {
            guard let scope, scopes.contains(scope) else {
                let names = scopes.map(\.rawValue).joined(separator: ", ")
                throw ValidationError("--\(phone != nil ? "phone" : "key") needs --scope, one of \(names)")
            }
        } else if scope != nil {
            throw ValidationError("--scope is for --phone and --key")
        }
    }

    /// Finds the scope; a key is looked up among blocks and orders.
    func target(at desk: BrakeDesk) async throws -> BrakeTarget {
        if let region {
            return target(.region, BrakeKey(region: try BrakeArgument.region(region).code).value)
        }
        if let key, let scope { return try await target(scope, key, at: desk) }
        let keys = try database.options.read(KeySettings.readFingerprint)
        try await desk.checkKeys(keys.checkValues(as: "fingerprint"))
        let hash = BrakeHash(keys.active)
        if let ip { return target(.ip, hash.client(try BrakeArgument.address(ip))) }
        let number = try BrakeArgument.number(phone ?? "")
        switch scope {
        case .prefix: return target(.prefix, hash.prefix(of: number))
        case .range: return target(.range, hash.range(of: number))
        default:
            let fingerprint = Recipient.phone(number).fingerprint(key: keys.active)
            return target(.phone, BrakeSubject.recipientKey(fingerprint))
        }
    }

    private func target(_ scope: BrakeOverride.Scope, _ key: Int64) -> BrakeTarget {
        BrakeTarget(tenant: tenant, scope: scope, key: key)
    }

    private func target(_ scope: BrakeOverride.Scope, _ text: String, at desk: BrakeDesk) async throws -> BrakeTarget {
        let state = try await desk.state(tenant: tenant)
        let blocks = state.blocks.map { (BrakeOverride.Scope($0.block.key.scope), $0.block.key.value) }
        let known = blocks + state.orders.map { ($0.order.scope, $0.order.key) }
        let found = Set(known.filter { $0.0 == scope && hexadecimal($0.1).hasPrefix(text.lowercased()) }.map(\.1))
        guard text.utf8.count >= 8, let key = found.first, found.count == 1 else {
            let message = "--key: \(found.isEmpty ? "none" : "not exactly one") of tenant \(tenant), \(scope.rawValue)"
            throw StartFailure.report([message + "; code-courier brake list shows keys"])
        }
        return target(scope, key)
    }
}

/// The options of an order.
struct BrakeOrderOptions: ParsableArguments {
    @Option(name: .customLong("for"), help: ArgumentHelp("How long, such as 90m, 48h or 30d.", valueName: "span"))
    var span: SpanArgument

    @Option(help: "Why, for those who read code-courier brake list.")
    var reason: String

    func validate() throws {
        guard (1...200).contains(reason.unicodeScalars.count) else {
            throw ValidationError("--reason must have 1 to 200 characters")
        }
    }

    func place(
        _ action: BrakeOverride.Action,
        on target: BrakeTarget,
        maximum: Int64? = nil,
        at desk: BrakeDesk,
        _ database: OperatorDatabaseOptions
    ) async throws {
        try await database.checkTenant(target.tenant, at: desk)
        let until = try await desk.place(
            action,
            on: target,
            lasting: span.duration,
            maximum: maximum,
            reason: reason
        )
        let scope = "\(target.scope.rawValue) \(target.scope.text(of: target.key))"
        let end = maximum.map { " or \(Int($0).grouped) messages to people who are not confirmed" } ?? ""
        printOutput(["\(action.rawValue) \(scope) of tenant \(target.tenant) until \(until.rfc3339)\(end)"])
    }
}

struct BrakeAllowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "allow",
        abstract: "Exempts a number, prefix, range, IP address or region from blocks for a time.",
        discussion: """
            For testers and offices. A permanent exemption belongs in the policy:
            brake.allow.

              code-courier brake allow --config courier.yaml --ip 192.0.2.1 --for 30d \\
                --reason "our testers"
              code-courier brake allow --config courier.yaml --phone - --scope phone \\
                --for 24h --reason "ticket 4711"
            """
    )

    @OptionGroup var target: BrakeTargetOptions
    @OptionGroup var order: BrakeOrderOptions

    func run() async throws {
        try await target.database.withBrake { desk in
            try await order.place(.allow, on: try await target.target(at: desk), at: desk, target.database)
        }
    }
}

struct BrakeBlockCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "block",
        abstract: "Blocks a prefix, range, IP address or region for a time.",
        discussion: """
            The block holds in every mode, and no probe opens it. Confirmed people, test
            numbers and exempt clients still get their codes, and so do verified apps in a
            range or region.

              code-courier brake block --config courier.yaml --phone - --scope range \\
                --for 6h --reason "attack since 09:10"
            """
    )

    @OptionGroup var target: BrakeTargetOptions
    @OptionGroup var order: BrakeOrderOptions

    func validate() throws {
        if target.scope == .phone { throw ValidationError("--scope phone is for allow: block its prefix or range") }
    }

    func run() async throws {
        try await target.database.withBrake { desk in
            try await order.place(.block, on: try await target.target(at: desk), at: desk, target.database)
        }
    }
}

struct BrakeLaunchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "launch",
        abstract: "Announces a launch in a region: its blocks only record for a time.",
        discussion: """
            Blocks of the region and of its ranges only record, since nobody knows how many
            of the new people approve. Those of prefixes and IP addresses still refuse. An
            attack would hide in a launch: it is over after --maximum messages to people
            who are not confirmed, as many as you expect and some.

              code-courier brake launch BR --config courier.yaml --for 48h \\
                --maximum 20000 --reason "TV"
            """
    )

    @Argument(help: "The region, such as BR.")
    var region: String

    @OptionGroup var database: OperatorDatabaseOptions

    @Option(help: "The tenant.")
    var tenant = "default"

    @Option(help: "The messages to unconfirmed people after which it is over; default: none.")
    var maximum: Int64?

    @OptionGroup var order: BrakeOrderOptions

    func validate() throws {
        if let maximum, maximum < 1 { throw ValidationError("--maximum must be at least 1") }
    }

    func run() async throws {
        let key = BrakeKey(region: try BrakeArgument.region(region).code).value
        let target = BrakeTarget(tenant: tenant, scope: .region, key: key)
        try await database.withBrake { desk in
            try await order.place(.launch, on: target, maximum: maximum, at: desk, database)
        }
    }
}

struct BrakeLiftCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lift",
        abstract: "Ends a block, and cancels an order.",
        discussion: """
            New evidence can block the scope again: allow it to prevent that. Exit code 0
            when something was lifted, 1 when there was nothing.

              code-courier brake lift --config courier.yaml --scope prefix --key 9f86d081
              code-courier brake lift --config courier.yaml --region BR
            """
    )

    @OptionGroup var target: BrakeTargetOptions

    func run() async throws {
        let lifted = try await target.database.withBrake { desk in
            try await desk.lift(try await target.target(at: desk))
        }
        printOutput(["blocks ended: \(lifted.blocks), orders cancelled: \(lifted.orders)"])
        if lifted.blocks + lifted.orders == 0 { throw ExitCode(1) }
    }
}

/// Parses the words of brake commands, or prints what is wrong and throws.
enum BrakeArgument {
    static func region(_ text: String) throws -> Region {
        if text == Region.unknown.code { return .unknown }
        guard let region = ValueRule.region.parse(text) else {
            throw StartFailure.report(["the region \(ValueRule.region.requirement)"])
        }
        return region
    }

    static func address(_ text: String) throws -> IPAddress {
        guard let address = IPAddress(peer: text) else { throw StartFailure.report(["--ip must be an IP address"]) }
        return address
    }

    static func number(_ given: String) throws -> PhoneNumber {
        guard let number = PhoneArgument.parse(try PersonArgument.text(given, "phone number")) else {
            throw StartFailure.report(["--phone must be + and digits"])
        }
        return number
    }
}

extension BrakeOverride.Scope {
    /// A key for people: a region's name, otherwise the first digits of the hash.
    func text(of key: Int64) -> String {
        self == .region ? BrakeKey(.region, key).regionName.printable : String(hexadecimal(key).prefix(8))
    }
}
