// SPDX-License-Identifier: Apache-2.0

import Formats
import Testing

@testable import Verification

@Suite struct RouteSimulationTests {
    private static let seeds: [UInt64] = [1, 2, 3, 4]

    private func results(_ router: RouteSimulation.Router) -> [RouteSimulation.Result] {
        Self.seeds.map { seed in
            var simulation = RouteSimulation(seed: seed)
            return simulation.run(router)
        }
    }

    private func mean(_ values: [Double]) -> Double { values.reduce(0, +) / Double(values.count) }

    @Test func `adaptive shares lose little to an oracle, and less than half of Signal's to a silent provider`() {
        let adaptive = results(.adaptive)
        let signal = results(.signal)
        let regret = mean(adaptive.map(\.points))
        let lost = adaptive.reduce(0) { $0 + $1.lost }
        print(
            "adaptive routes: regret \(adaptive.map(\.points)), Signal's \(signal.map(\.points)); lost",
            "\(adaptive.map(\.lost)), Signal's \(signal.map(\.lost)); silences \(adaptive.map(\.silences)),",
            "false \(adaptive.map(\.falseSilences)), recoveries \(adaptive.map(\.recoveries))"
        )
        #expect(regret <= 1.2)
        #expect(regret <= mean(signal.map(\.points)) + 0.1)
        #expect(Double(lost) <= 0.45 * Double(signal.reduce(0) { $0 + $1.lost }))
        #expect(adaptive.allSatisfy { $0.silences > 0 && $0.falseSilences <= 2 })
    }

    @Test func `a fixed order and equal weights lose several points`() {
        let first = mean(results(.first).map(\.points))
        let equal = mean(results(.equal).map(\.points))
        #expect(first > 3 && equal > 5, "\(first) \(equal)")
    }

    @Test func `sixty verifications a day are shared no worse than by equal weights`() {
        func regret(_ router: RouteSimulation.Router) -> Double {
            mean(
                ((1...16) as ClosedRange<UInt64>).map { seed in
                    var simulation = RouteSimulation(seed: seed, volumes: [("IS", 60)])
                    return simulation.run(router).points
                }
            )
        }
        let (adaptive, equal) = (regret(.adaptive), regret(.equal))
        #expect(adaptive <= equal + 1, "\(adaptive) \(equal)")
    }
}
