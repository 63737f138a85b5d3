// SPDX-License-Identifier: Apache-2.0

import Courier
import Formats
import FoundationEssentials
import Glibc
import TestSupport
import TestTools
import Testing
import Verification

@testable import CodeCourier

@Suite("Reload of the policy", .timeLimit(.minutes(1)))
struct PolicyReloadTests {
    private let folder: ScratchFolder
    private let path: String
    private let policies: PolicySource
    private let log = LogRecord()

    init() throws {
        folder = try ScratchFolder()
        path = try folder.write(Self.text("1"), to: "policy.yaml")
        policies = PolicySource(try PolicyFile.load(path: path).get())
    }

    private static func text(_ version: String, regions: String = "US, GB") -> String {
        ExampleFiles.policy.replacing("2026-11-20.1", with: version).replacing("US, GB", with: regions)
    }

    private var version: String { policies.current.version }

    private func loader(
        _ path: String? = nil,
        faults: @escaping @Sendable (Policy) async -> [String] = { _ in [] }
    ) -> PolicyLoader {
        PolicyLoader(
            path: path ?? self.path,
            providers: PolicyFaultTests.providers,
            policies: policies,
            faults: faults,
            logger: log.logger
        )
    }

    /// Replaces a file atomically.
    private func rename(_ file: String, over target: String) throws {
        #expect(Glibc.rename(file, target) == 0)
    }

    @Test func `a changed file is in force soon`() async throws {
        try await watching(loader()) {
            _ = try folder.write(Self.text("2"), to: "policy.yaml")
            try await eventually("the second version") { version == "2" }
            try rename(try folder.write(Self.text("3"), to: "next.yaml"), over: path)
            try await eventually("the third version, renamed over the second") { version == "3" }
        }
        #expect(log.events == ["policy.reloaded", "policy.reloaded"])
        #expect(log.values("policy_version") == ["2", "3"])
    }

    @Test func `a policy with a fault that only the database shows is refused`() async throws {
        try await watching(loader { $0.version == "2" ? ["tenants.default.budgets: no"] : [] }) {
            _ = try folder.write(Self.text("2"), to: "policy.yaml")
            try await eventually("the refusal") { log.events == ["policy.refused"] }
            #expect(version == "1" && log.values("fault") == ["tenants.default.budgets: no"])
            _ = try folder.write(Self.text("3"), to: "policy.yaml")
            try await eventually("the next version") { version == "3" }
        }
    }

    @Test func `a symbolic link that is led elsewhere counts as a change`() async throws {
        for version in ["a", "b"] {
            try FileManager.default.createDirectory(
                atPath: "\(folder.path)/\(version)",
                withIntermediateDirectories: true
            )
            _ = try folder.write(Self.text(version), to: "\(version)/policy.yaml")
        }
        // A mounted Kubernetes volume has this layout: the path leads through a symbolic link that is swapped.
        try link("a", as: "data")
        try link("data/policy.yaml", as: "mounted.yaml")
        try await watching(loader("\(folder.path)/mounted.yaml")) {
            try await eventually("the first target") { version == "a" }
            try link("b", as: "data.new")
            try rename("\(folder.path)/data.new", over: "\(folder.path)/data")
            try await eventually("the second target") { version == "b" }
        }
    }

    private func link(_ target: String, as name: String) throws {
        try FileManager.default.createSymbolicLink(atPath: "\(folder.path)/\(name)", withDestinationPath: target)
    }

    /// Invalid policies, and the text that the fault must contain.
    static let refused = [
        (text("2", regions: "US, US"), "names US again"),
        ("", "is empty"),
        (text("2").replacing("[IN]", with: "[NO]"), "contradicts itself: NO"),
        (text("2").replacing("default: [main, backup]", with: "default: [other]"), "no configured provider"),
        (text("2").replacing("tenants:", with: "tenants: ["), "is not YAML"),
    ]

    @Test(arguments: refused)
    func `a faulty file is refused and the one in force stays, until there is a good one`(
        text: String,
        fault: String
    ) async throws {
        try await watching(loader()) {
            _ = try folder.write(text, to: "policy.yaml")
            try await eventually("the refusal") { log.events.contains("policy.refused") }
            #expect(version == "1")
            #expect(log.values("fault").allSatisfy { $0.contains(fault) })
            _ = try folder.write(Self.text("3"), to: "policy.yaml")
            try await eventually("the good version") { version == "3" }
        }
    }

    @Test func `a changed file of prices is in force soon, and a faulty one is refused`() async throws {
        func prices(_ price: String) -> String { "currency: USD\nlist: [{ provider: main, price: \(price) }]" }
        let text = Self.text("1").replacing("tenants:", with: "prices: { path: prices.yaml }\ntenants:")
        _ = try folder.write(prices("0.1"), to: "prices.yaml")
        _ = try folder.write(text, to: "policy.yaml")
        policies.replace(with: try PolicyFile.load(path: path).get())
        try await watching(loader()) {
            _ = try folder.write(prices("0.2"), to: "prices.yaml")
            try await eventually("the second price") { policies.current.prices?.prices.first?.amount == Money("0.2") }
            _ = try folder.write(prices("cheap"), to: "prices.yaml")
            try await eventually("the refusal") { log.events.contains("policy.refused") }
            #expect(log.values("fault").first?.contains("prices.yaml:2: list[0].price: must be an amount") == true)
            #expect(policies.current.prices?.prices.first?.amount == Money("0.2"))
        }
        // Events of messages with either price name the same policy.
        #expect(log.events.contains("policy.version_reused"))
    }

    @Test func `a file that is gone is refused and read again when it is back`() async throws {
        try await watching(loader()) {
            try FileManager.default.removeItem(atPath: path)
            try await eventually("the refusal") { log.events == ["policy.refused"] }
            #expect(version == "1")
            _ = try folder.write(Self.text("2"), to: "policy.yaml")
            try await eventually("the version that is back") { version == "2" }
        }
    }

    @Test func `the same content is judged once, however often the file is written`() async throws {
        let loader = loader()
        await loader.load(because: .change)
        #expect(log.events.isEmpty)
        _ = try folder.write(Self.text("2", regions: "US, US"), to: "policy.yaml")
        await loader.load(because: .change)
        await loader.load(because: .change)
        #expect(log.events == ["policy.refused"])
        _ = try folder.write(Self.text("2"), to: "policy.yaml")
        await loader.load(because: .change)
        await loader.load(because: .change)
        #expect(log.events == ["policy.refused", "policy.reloaded"])
    }

    @Test func `a signal is always answered`() async throws {
        let loader = loader()
        await loader.load(because: .signal)
        await loader.load(because: .signal)
        #expect(log.events == ["policy.reloaded", "policy.reloaded"])
    }

    @Test func `other rules under the same version are taken with a warning`() async throws {
        let loader = loader()
        _ = try folder.write(Self.text("1", regions: "US"), to: "policy.yaml")
        await loader.load(because: .change)
        #expect(log.events == ["policy.version_reused", "policy.reloaded"])
        #expect(
            policies.current.tenants["default"]?.regions.base == .allowlistOnly(allowed: try regions("US DE FR IN"))
        )
        _ = try folder.write(Self.text("1", regions: "US") + "\n# a comment", to: "policy.yaml")
        await loader.load(because: .change)
        #expect(log.events == ["policy.version_reused", "policy.reloaded", "policy.reloaded"])
    }

    private func regions(_ codes: String) throws -> Set<Region> {
        Set(try codes.split(separator: " ").map { try #require(Region($0)) })
    }

    @Test func `a file is read when it looks the same twice`() throws {
        var changes = FileChanges()
        let first = FileIdentity(of: path)
        let looks = [first, first, first].map { changes.isSettled($0) }
        #expect(looks == [false, true, false])
        _ = try folder.write("more", to: "policy.yaml")
        let second = FileIdentity(of: path)
        #expect(second != first)
        let later = [second, nil, second, second].map { changes.isSettled($0) }
        #expect(later == [false, false, false, true])
    }
}
