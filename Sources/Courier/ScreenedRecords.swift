// SPDX-License-Identifier: Apache-2.0

import Verification

/// Records that were read and screened, and by what.
struct ScreenedRecords: Sendable {
    private(set) var candidates: [Candidate]
    let policy: Policy
    let keys: CodeKeys
    private let revisions: [Int]

    /// Screens records by what is in force, many of them in parts beside each other.
    init(
        _ records: [InboundRecord],
        policies: PolicySource,
        keys keySource: KeySource,
        numbers: any NumberDirectory,
        _ settings: CourierSettings
    ) async {
        // Before what they tell of: if it is replaced meanwhile, this does not count as current.
        revisions = [policies.revision, keySource.revision]
        let (policy, keys) = (policies.current, keySource.current)
        let screener = Screener(policy: policy, keys: keys, numbers: numbers, cell: settings.cell)
        let now = settings.now()
        let size = 128
        candidates = await withTaskGroup(of: (start: Int, candidates: [Candidate]).self) { group in
            for start in stride(from: 0, to: records.count, by: size) {
                group.addTask {
                    var generator = KernelRandomness()
                    let part = records[start..<min(start + size, records.count)]
                    return (start, part.map { screener.candidate(for: $0, now: now, using: &generator) })
                }
            }
            var parts: [(start: Int, candidates: [Candidate])] = []
            for await part in group { parts.append(part) }
            return parts.sorted { $0.start < $1.start }.flatMap(\.candidates)
        }
        self.policy = policy
        self.keys = keys
    }

    /// The same of some of the candidates.
    func only(_ candidates: [Candidate]) -> ScreenedRecords {
        var part = self
        part.candidates = candidates
        return part
    }

    /// Whether nothing else has come into force since.
    func isCurrent(_ policies: PolicySource, _ keys: KeySource) -> Bool {
        revisions == [policies.revision, keys.revision]
    }
}
