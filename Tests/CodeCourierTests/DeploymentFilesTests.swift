// SPDX-License-Identifier: Apache-2.0

import Foundation
import Providers
import SettingsReading
import TestTools
import Testing
import Verification

@testable import CodeCourier

@Suite("Files of deployments")
struct DeploymentFilesTests {
    private static let root = Repository.root

    /// The folders with a configuration and a policy.
    static let folders = [
        "deploy/systemd", "deploy/compose", "deploy/kustomize/base", "deploy/kustomize/overlays/production",
    ]

    @Test(arguments: folders)
    func `a worker takes the configuration and the policy of each way to run it`(folder: String) throws {
        let scratch = try ScratchFolder()
        let names = ["code", "hash", "fingerprint", "seal"]
        for (number, name) in names.enumerated() {
            _ = try scratch.write(ExampleFiles.ring(1, filledWith: UInt8(number)), to: name)
        }
        for name in ["kafka-password", "twilio", "vonage", "ca.crt"] { _ = try scratch.write("secret", to: name) }
        _ = try scratch.write("postgresql://code_courier@postgres/courier", to: "postgres-url")

        // The installed secrets are in folders that do not exist here, so the test puts them beside the file.
        let text = try Self.text("\(folder)/courier.yaml")
            .replacing("/run/secrets/code-courier/", with: "")
            .replacing("/run/secrets/kafka-ca/", with: "\(scratch.path)/")
            .replacing("/run/secrets/", with: "")
        #expect(try scratch.faults(text, environment: [:]) == [])
        let configuration = try scratch.load(text, environment: [:]).get()
        let policy = PolicyFile.load(
            path: Self.root.appending(path: "\(folder)/policy.yaml").path,
            providers: configuration.providers.channels
        )
        #expect(throws: Never.self) { try policy.get() }
    }

    @Test func `every folder of deploy with a configuration is among those that are checked`() throws {
        let files = try #require(FileManager.default.subpaths(atPath: Self.root.appending(path: "deploy").path))
        let found = files.filter { $0.hasSuffix("/courier.yaml") }.map {
            "deploy/\($0.dropLast("/courier.yaml".count))"
        }
        #expect(Set(found) == Set(Self.folders))
    }

    private static func text(_ path: String) throws -> String {
        let data = try #require(FileManager.default.contents(atPath: root.appending(path: path).path))
        return String(decoding: data, as: UTF8.self)
    }
}
