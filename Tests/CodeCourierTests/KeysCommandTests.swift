// SPDX-License-Identifier: Apache-2.0

import Administration
import ArgumentParser
import Formats
import Foundation
import Glibc
import TestTools
import Testing
import Verification

@testable import CodeCourier

@Suite struct KeysCommandTests {
    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
        try folder.write("1:\(Self.key(1))\n", to: "hash")
        try folder.write("keys: { hashFile: hash, seal: \"3:\(Self.key(4)),1:\(Self.key(5))\" }", to: "courier.yaml")
    }

    private static func key(_ byte: UInt8) -> String { Base64.encode([UInt8](repeating: byte, count: 32)) }

    private func rings() throws -> [PlacedRing] {
        try CourierConfiguration.load(path: folder["courier.yaml"], environment: [:], KeySettings.readPlaced).get()
    }

    private func parse<Command: ParsableArguments>(_ type: Command.Type, _ arguments: String...) throws -> Command {
        try type.parse(arguments + ["--config", folder["courier.yaml"]])
    }

    private func hash() throws -> KeyRing { try #require(try rings().first { $0.name == "hash" }).ring }

    @Test func `a ring is shown with its place, and one that is not set is not missed`() throws {
        let rings = try rings()
        #expect(rings.map(\.name) == ["hash", "seal"])
        #expect(rings.map(\.place) == [folder["hash"], "\(folder["courier.yaml"]):1"])
        #expect(rings.map { $0.ring.ids.map(\.number) } == [[1], [3, 1]])
    }

    @Test func `a key is added at the end, put in front, and nothing else of the file changes`() throws {
        #expect(chmod(folder["hash"], 0o440) == 0)
        let old = folder.text(of: "hash")
        try parse(KeysAddCommand.self, "hash").run()
        #expect(folder.text(of: "hash").hasPrefix("\(old.trimmingCharacters(in: .newlines)),2:"))
        #expect(folder.text(of: "hash").hasSuffix("=\n"))
        let added = try hash()
        #expect(added.ids == [KeyID(1), KeyID(2)])
        try parse(KeysActivateCommand.self, "hash", "2").run()
        let active = try hash()
        #expect(active.activeID == KeyID(2))
        #expect(active[KeyID(1)] == added[KeyID(1)] && active[KeyID(2)] == added[KeyID(2)])
        var status = stat()
        #expect(stat(folder["hash"], &status) == 0)
        #expect(status.st_mode & 0o7777 == 0o440)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["courier.yaml", "hash"])
    }

    @Test func `two new keys are different`() throws {
        for _ in 0..<2 { try parse(KeysAddCommand.self, "hash").run() }
        let ring = try hash()
        #expect(ring.ids.count == 3)
        #expect(ring[KeyID(2)] != ring[KeyID(3)])
    }

    @Test(arguments: [
        ("1:a,2:b", "1:a,2:b,9:z"), ("1:a\n", "1:a,9:z\n"), ("1:a\n2:b\n", "1:a\n2:b\n9:z\n"),
        ("1:a,\n2:b", "1:a\n2:b\n9:z"),
    ])
    func `the form of a ring stays`(text: String, expected: String) {
        var ring = RingText(text)
        ring.append("9:z")
        #expect(ring.text == expected)
        ring.remove(KeyID(9))
        ring.moveToFront(KeyID(1))
        #expect(ring.text == RingText(text).text)
    }

    @Test func `a link to the ring stays a link`() throws {
        try FileManager.default.moveItem(atPath: folder["hash"], toPath: folder["real"])
        #expect(symlink("real", folder["hash"]) == 0)
        try parse(KeysAddCommand.self, "hash").run()
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder["hash"]) == "real")
        #expect(try hash().ids.count == 2)
    }

    @Test func `a ring that cannot be changed stays as it is, with the reason`() throws {
        let old = folder.text(of: "hash")
        try folder.write("", to: "hash.next")
        let error = #expect(throws: SecretFile.Failure.self) { try SecretFile(folder["hash"]).replace(with: "x") }
        #expect(error?.call.hasPrefix("open ") == true && error?.code == EEXIST)
        #expect(folder.text(of: "hash") == old)
    }

    @Test func `what cannot be activated or retired is refused before anything is asked or changed`() async throws {
        let old = folder.text(of: "hash")
        #expect(throws: ExitCode(2)) { try parse(KeysActivateCommand.self, "hash", "7").run() }
        #expect(throws: ExitCode(2)) { try parse(KeysActivateCommand.self, "seal", "1").run() }
        #expect(throws: ExitCode(2)) { try parse(KeysActivateCommand.self, "code", "1").run() }
        let signing = try parse(KeysRetireCommand.self, "hash", "1")
        await #expect(throws: ExitCode(1)) { try await signing.run() }
        let unknown = try parse(KeysRetireCommand.self, "hash", "2")
        await #expect(throws: ExitCode(2)) { try await unknown.run() }
        #expect(throws: (any Error).self) { try parse(KeysRetireCommand.self, "hash", "0") }
        #expect(folder.text(of: "hash") == old)
    }

    @Test func `status says which key signs, until when others are needed, and which one is missing`() throws {
        let until = Timestamp(microseconds: 1_800_000_000_000_000)
        func need(_ ring: String, _ id: Int16, _ rows: Int64) -> KeyNeed {
            KeyNeed(name: KeyName(ring: ring, id: KeyID(id)), rows: rows, until: until)
        }
        let status = KeyStatus(
            rings: try rings(),
            needs: [need("code", 1, 4), need("hash", 9, 8), need("seal", 3, 1204)]
        )
        let lines = status.lines.map { $0.split(separator: " ").joined(separator: " ") }
        #expect(
            lines == [
                "ring key live rows needed until",
                "hash 1 signs 0 -",
                "hash 9 MISSING 8 2027-01-15T08:00:00.000Z put it back at the end of the ring",
                "seal 3 signs 1,204 2027-01-15T08:00:00.000Z",
                "seal 1 reads 0 - may go: code-courier keys retire seal 1",
            ]
        )
        let json = String(decoding: status.json, as: UTF8.self)
        #expect(json.contains(#""ring":"hash","id":9,"state":"missing""#), "\(json)")
        #expect(json.contains(#""liveRows":8,"neededUntil":"2027-01-15T08:00:00.000Z","mayGo":false"#), "\(json)")
        #expect(json.components(separatedBy: #""mayGo":true"#).count == 2)
        #expect(!json.contains(Self.key(1)))
    }
}
