// SPDX-License-Identifier: Apache-2.0

import Providers
import SettingsReading
import TestTools
import Testing
import Verification

@testable import CodeCourier

@Suite("Rates of providers")
struct ProviderRateTests {
    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
    }

    private func configuration(rate: String) -> String {
        ExampleFiles.smallest.replacing("kind: log", with: "kind: log, rate: \(rate)")
    }

    static let rates: [(String, RateLimit)] = [
        ("10/s", RateLimit(count: 10, per: .seconds(1))),
        ("600/min", RateLimit(count: 600, per: .seconds(60))),
        ("1000000/h", RateLimit(count: 1_000_000, per: .seconds(3600))),
    ]

    @Test(arguments: rates)
    func `a rate is a number and a unit`(text: String, rate: RateLimit) throws {
        let providers = try folder.load(configuration(rate: text)).get().providers
        #expect(providers.rates == ["main": rate])
    }

    @Test func `a provider without a rate has no limit, and the environment's rate counts`() throws {
        #expect(try folder.load(ExampleFiles.smallest).get().providers.rates.isEmpty)
        var environment = ExampleFiles.keys
        environment["PROVIDERS_MAIN_RATE"] = "7/s"
        let providers = try folder.load(configuration(rate: "5/s"), environment: environment).get().providers
        #expect(providers.rates == ["main": RateLimit(count: 7, per: .seconds(1))])
    }

    @Test(arguments: ["0/s", "10", "10/", "/s", "10/d", "1.5/s", "-1/s", "1000001/s", "10/s/s", "10 / s"])
    func `what is no rate is a fault that names the key`(text: String) throws {
        let faults = try folder.faults(configuration(rate: "\"\(text)\""))
        #expect(
            faults == [
                "courier.yaml:3: providers[0].rate: must be a rate such as 10/s, 600/min or 5000/h, from 1 to 1000000 a unit"
            ]
        )
    }
}
