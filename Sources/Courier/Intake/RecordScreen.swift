// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

/// Reads records and applies the stateless rules, with the current policy and keys.
struct RecordScreen: Sendable {
    let policies: PolicySource
    let keys: KeySource
    let numbers: any NumberDirectory
    let settings: WorkerSettings
    let now: @Sendable () -> Timestamp

    init(_ parts: Pipeline.Parts, _ context: StageContext) {
        policies = parts.policies
        keys = parts.keys
        numbers = parts.numbers
        settings = context.settings
        now = context.now
    }

    /// Screens records, large batches in parallel parts.
    func screen(_ records: [InboundRecord]) async -> ScreenedRecords {
        // Read before the policy and keys: if a reload replaces them in between, the result counts as outdated.
        let revisions = revisions
        let rules = IntakeRules(policy: policies.current, keys: keys.current, settings: settings)
        let screener = Screener(policy: rules.policy, keys: rules.keys, numbers: numbers, cell: settings.cell)
        let now = now()
        let size = 128
        @Sendable func part(_ start: Int) -> [Candidate] {
            var generator = KernelRandomness()
            return records[start..<min(start + size, records.count)].map {
                screener.candidate(for: $0, now: now, using: &generator)
            }
        }
        if records.count <= size {
            return ScreenedRecords(candidates: part(0), rules: rules, revisions: revisions)
        }
        let candidates = await withTaskGroup(of: (start: Int, candidates: [Candidate]).self) { group in
            for start in stride(from: 0, to: records.count, by: size) {
                group.addTask { (start, part(start)) }
            }
            var parts: [(start: Int, candidates: [Candidate])] = []
            for await part in group { parts.append(part) }
            return parts.sorted { $0.start < $1.start }.flatMap(\.candidates)
        }
        return ScreenedRecords(candidates: candidates, rules: rules, revisions: revisions)
    }

    /// True while no reload has replaced the policy or keys since the records were screened.
    func isCurrent(_ screened: ScreenedRecords) -> Bool { screened.revisions == revisions }

    private var revisions: [Int] { [policies.revision, keys.revision] }
}

/// Screened records, with the rules and revisions that were used.
struct ScreenedRecords: Sendable {
    fileprivate(set) var candidates: [Candidate]
    let rules: IntakeRules
    fileprivate let revisions: [Int]

    func only(_ candidates: [Candidate]) -> ScreenedRecords {
        var part = self
        part.candidates = candidates
        return part
    }
}
