// SPDX-License-Identifier: Apache-2.0

import Administration
import ArgumentParser
import Formats
import SettingsReading
import Verification

/// Shows the key rings and what needs their keys, and changes them.
struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Shows which keys live verifications need, and rotates keys.",
        discussion: """
            Four rings: code makes codes, hash and seal make stored data unreadable,
            fingerprint recognizes people. The first key of a ring signs; the others check
            what they signed before.

              code-courier keys status --config courier.yaml
              code-courier keys add hash --config courier.yaml
              code-courier keys activate hash 2 --config courier.yaml
              code-courier keys retire hash 1 --config courier.yaml

            Do each step everywhere before the next one, verifiers first: add, activate,
            retire. Workers read files of keys within three seconds. status and retire
            need a login with the role courier_operator; a fleet of several cells has a
            database for each: look into all of them before retire.
            """,
        subcommands: [KeysStatusCommand.self, KeysAddCommand.self, KeysActivateCommand.self, KeysRetireCommand.self]
    )
}

extension ConfigurationOptions {
    /// The rings that are set; prints the faults and throws without any.
    fileprivate func rings() throws -> [PlacedRing] { try read(KeySettings.readPlaced) }

    /// The ring of this name.
    fileprivate func ring(_ name: RingName) throws -> PlacedRing {
        if let ring = try rings().first(where: { $0.name == name.rawValue }) { return ring }
        throw StartFailure.report(["keys.\(name.rawValue) is not set"])
    }
}

extension OperatorDatabaseOptions {
    /// Reads the use of keys, and reports a fault of the database in one line.
    ///
    /// Keys that differ from the fleet's are a fault, since the answer would be about other keys.
    fileprivate func needs(of rings: [PlacedRing]) async throws -> [KeyNeed] {
        try await withPool(for: "keys") { pool in
            try await KeyCheck(pool).compareAsOperator(rings.flatMap { $0.ring.checkValues(as: $0.name) })
            return try await KeyUse(pool).needs()
        }
    }
}

/// The name of a ring in the configuration, in the order in which commands show the rings.
enum RingName: String, CaseIterable, ExpressibleByArgument {
    case code, hash, seal, fingerprint
}

/// The id of a key in its ring.
struct KeyIDArgument: ExpressibleByArgument {
    let id: KeyID

    init?(argument: String) {
        guard let number = Int16(argument), number > 0 else { return nil }
        id = KeyID(number)
    }
}

struct KeysStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Shows how many live rows need each key, and when it can be removed.",
        discussion: """
            A row needs a key until the time shown at the latest. Which fingerprint key
            made a row is in no row.

              code-courier keys status --config courier.yaml
              POSTGRES_URL_FILE=operator-url code-courier keys status --json

            Exit code 1 when live rows need a key that no ring has: verify fails, and no
            worker starts, until it is put back.
            """
    )

    @OptionGroup var database: OperatorDatabaseOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let rings = try database.options.rings()
        let status = KeyStatus(rings: rings, needs: try await database.needs(of: rings))
        if json { printOutput(status.json) } else { printOutput(status.lines) }
        if status.keys.contains(where: { $0.state == .missing }) { throw ExitCode(1) }
    }
}

struct KeysAddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Adds a new key at the end of a ring, which then can read but does not sign.",
        discussion: """
            The key is 32 random bytes with the next free id. A ring in a file is changed
            there, as a whole and with the mode that it had, and nothing is printed of the
            key. For a ring in the configuration itself or in a variable the key is
            printed, to be put there.

              code-courier keys add hash --config courier.yaml

            Next: keys activate, once every worker and verifier has the new ring.
            """
    )

    @Argument(help: "code, hash, seal or fingerprint.")
    var ring: RingName

    @OptionGroup var options: ConfigurationOptions

    func run() throws {
        let placed = try options.ring(ring)
        guard let entry = RingText.newEntry(in: placed.ring) else {
            throw StartFailure.report(["\(placed.key) has the highest id, 32767: begin a ring with free ids"])
        }
        let id = String(entry.prefix { $0 != ":" })
        guard placed.setting.path != nil else {
            printOutput([entry])
            return printError(
                "put this behind a comma at the end of \(placed.key) in \(placed.place), and restart workers"
            )
        }
        try placed.edit { $0.append(entry) }
        let next =
            ring == .fingerprint
            ? "next: see docs/operators.md#key-rotation; the first fingerprint key changes only with all workers stopped"
            : "next: once every worker logged secrets.reloaded with it and every verifier has it, code-courier keys"
                + " activate \(ring.rawValue) \(id)"
        printOutput(["\(placed.key): key \(id) is in \(placed.place), and does not sign yet", next])
    }
}

struct KeysActivateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "activate",
        abstract: "Puts a key in front of its ring, so that it signs.",
        discussion: """
            Every worker and verifier must have the key first: others cannot read what it
            signs.

              code-courier keys activate hash 2 --config courier.yaml
            """
    )

    @Argument(help: "code, hash or seal.")
    var ring: RingName

    @Argument(help: "The key's id.")
    var id: KeyIDArgument

    @OptionGroup var options: ConfigurationOptions

    func run() throws {
        let placed = try options.ring(ring)
        guard ring != .fingerprint else {
            throw StartFailure.report([
                "keys.fingerprint: the first key changes only with all workers stopped: docs/operators.md#key-rotation"
            ])
        }
        try placed.expectKey(id.id)
        guard placed.ring.activeID != id.id else {
            return printOutput(["\(placed.key): key \(id.id) signs already"])
        }
        guard placed.setting.path != nil else {
            throw StartFailure.report([
                "\(placed.key) is in no file: put key \(id.id) in front in \(placed.place), and restart workers"
            ])
        }
        try placed.edit { $0.moveToFront(id.id) }
        printOutput([
            "\(placed.key): key \(id.id) is in front in \(placed.place)",
            "next: when keys status shows no row of key \(placed.ring.activeID), code-courier keys retire"
                + " \(ring.rawValue) \(placed.ring.activeID)",
        ])
    }
}

struct KeysRetireCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retire",
        abstract: "Removes a key from its ring, if no live row needs it.",
        discussion: """
            Exit code 1 when live rows still need the key, with the time until which they
            do. It reads the database of one cell: with several, run keys status for each.

              POSTGRES_URL_FILE=operator-url \\
                code-courier keys retire hash 1 --config courier.yaml
              code-courier keys retire hash 1 --config courier.yaml --dry-run
            """
    )

    @Argument(help: "code, hash or seal.")
    var ring: RingName

    @Argument(help: "The key's id.")
    var id: KeyIDArgument

    @OptionGroup var database: OperatorDatabaseOptions

    @Flag(help: "Say whether it may go, and change nothing.")
    var dryRun = false

    func run() async throws {
        let placed = try database.options.ring(ring)
        try placed.expectKey(id.id)
        if placed.ring.activeID == id.id { throw refusal("it signs; first: code-courier keys add, then keys activate") }
        guard ring != .fingerprint else {
            throw refusal("no row names its fingerprint key; docs/operators.md#key-rotation says how long to keep it")
        }
        let need = try await database.needs(of: [placed]).first {
            $0.name == KeyName(ring: ring.rawValue, id: id.id)
        }
        if let need { throw refusal("\(need.sentence); try again at \(need.until.rfc3339)") }
        guard !dryRun else { return printOutput(["\(placed.key): key \(id.id) may go: no live row needs it"]) }
        guard placed.setting.path != nil else {
            return printOutput([
                "\(placed.key): key \(id.id) may go: take it out in \(placed.place), and restart workers"
            ])
        }
        try placed.edit { $0.remove(id.id) }
        printOutput([
            "\(placed.key): key \(id.id) is out of \(placed.place)",
            "next: wait for secrets.reloaded of every worker, and give verifiers the new ring",
        ])
    }

    private func refusal(_ reason: String) -> ExitCode {
        printError("code-courier: keys.\(ring.rawValue): key \(id.id) may not go: \(reason)")
        return ExitCode(1)
    }
}

extension PlacedRing {
    /// Throws unless the ring has a key with this id.
    fileprivate func expectKey(_ id: KeyID) throws {
        guard ring[id] == nil else { return }
        let known = ring.ids.map(\.description).joined(separator: ", ")
        throw StartFailure.report(["\(key) has no key \(id); its keys are \(known)"])
    }

    /// Changes the ring's file.
    fileprivate func edit(_ change: (inout RingText) -> Void) throws {
        guard let path = setting.path else { return }
        do {
            var text = RingText(try TextFile.read(path, maximumBytes: 65_536))
            change(&text)
            try SecretFile(path).replace(with: text.text)
        } catch let error as TextFile.Unreadable {
            throw StartFailure.report(["\(path) \(error.reason)"])
        } catch {
            throw StartFailure.report(["\(key): \(error)"])
        }
    }
}
