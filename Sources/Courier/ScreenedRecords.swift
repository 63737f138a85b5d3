// SPDX-License-Identifier: Apache-2.0

import Verification

/// Records that were read and screened, and by what.
struct ScreenedRecords: Sendable {
    let candidates: [Candidate]
    let policy: Policy
    let keys: CodeKeys

    /// Screens records, many of them in parts beside each other.
    init(
        _ records: [InboundRecord],
        policy: Policy,
        keys: CodeKeys,
        numbers: any NumberDirectory,
        now: Timestamp
    ) async {
        let screener = Screener(policy: policy, keys: keys, numbers: numbers)
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
}
