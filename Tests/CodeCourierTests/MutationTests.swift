// SPDX-License-Identifier: Apache-2.0

import SettingsReading
import TestTools
import Testing

@testable import CodeCourier

@Suite("Mutated files")
struct MutationTests {
    private static let pieces = [
        "", "{", "}", "[", "]", ":", ",", "\n", "  ", "\t", "\"", "'", "#", "&a ", "*a", "? ", "- ", "!!int ", "<<: ",
        "|\n",
        "---\n", "~", "null", "NO", "99999999999999999999", "-1", "0x10", "1e400", "\u{0}", "\u{feff}", "é", "\\ud800",
        "9223372036854775807h", ".inf", "2026-11-20",
    ]

    private static func mutate(_ text: String, using generator: inout TestSeed) -> String {
        var scalars = Array(text.unicodeScalars)
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            let start = Int.random(in: 0...scalars.count, using: &generator)
            let end = min(scalars.count, start + Int.random(in: 0...12, using: &generator))
            let piece: [Unicode.Scalar]
            if Bool.random(using: &generator) {
                piece = Array((pieces.randomElement(using: &generator) ?? "").unicodeScalars)
            } else {
                let other = Int.random(in: 0...scalars.count, using: &generator)
                piece = Array(scalars[other..<min(scalars.count, other + 20)])
            }
            scalars.replaceSubrange(start..<end, with: piece)
        }
        var mutated = String.UnicodeScalarView()
        mutated.append(contentsOf: scalars)
        return String(mutated)
    }

    @Test func `a mutated policy is a policy or has faults of one line each`() {
        var generator = TestSeed("policy")
        var refused = 0
        for _ in 0..<2000 {
            let text = Self.mutate(ExampleFiles.policy, using: &generator)
            guard
                case .failure(let faults) = PolicyFile.parse(
                    text,
                    file: "policy.yaml",
                    providers: PolicyFaultTests.providers
                )
            else { continue }
            refused += 1
            #expect(!faults.faults.isEmpty)
            #expect(faults.faults.allSatisfy { !$0.description.contains(where: \.isNewline) }, "\(faults)")
        }
        #expect((1000..<2000).contains(refused))
    }

    @Test func `a mutated configuration is one or has faults of one line each`() throws {
        let folder = try ScratchFolder()
        var generator = TestSeed("configuration")
        var refused = 0
        let example = try ExampleFiles.courier(in: folder)
        for _ in 0..<2000 {
            let text = Self.mutate(example, using: &generator)
            let path = "\(folder.path)/courier.yaml"
            let source = ConfigurationSource(path: path, text: text, environment: ExampleFiles.keys)
            guard case .failure(let faults) = CourierConfiguration.read(source) else { continue }
            refused += 1
            #expect(!faults.faults.isEmpty)
            #expect(faults.faults.allSatisfy { !$0.description.contains(where: \.isNewline) }, "\(faults)")
        }
        #expect((1000..<2000).contains(refused))
    }

    @Test func `deep nesting and many aliases end in faults`() {
        for depth in [500, 5000, 100_000] {
            let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
            guard case .failure = PolicyFile.parse(text, file: "policy.yaml") else {
                Issue.record("accepted \(depth) brackets")
                continue
            }
        }
        let bomb = (1...30).map { "a\($0): &a\($0) [*a\($0 - 1), *a\($0 - 1)]" }.joined(separator: "\n")
        guard case .failure(let faults) = PolicyFile.parse("a0: &a0 [x]\n\(bomb)", file: "policy.yaml") else {
            Issue.record("accepted aliases of aliases")
            return
        }
        #expect(faults.faults.count >= 31)
    }
}
