// SPDX-License-Identifier: Apache-2.0

import Verification

extension Policy {
    /// The policy of `bench/arena.py`: all rules, with a tenant's limit out of reach.
    static let benchmark = Policy(
        version: "bench.1",
        tenants: [
            "default": TenantPolicy(
                appName: "Acme",
                regions: RegionPolicy(
                    .allowlistOnly(allowed: Set(["DE", "GB", "FR", "IN"].compactMap { Region($0) }))
                ),
                limits: LimitPolicy(perTenant: [RateLimit(count: 100_000_000, per: .seconds(60))]),
                routes: Routes(fallback: ["main"])
            )
        ]
    )
}

extension WorkerSettings {
    static let benchmark = {
        var settings = WorkerSettings()
        settings.source = "/benchmark"
        return settings
    }()
}

extension CodeKeys {
    /// Keys of repeated bytes.
    static let benchmark = CodeKeys(code: ring(1), hash: ring(2), fingerprint: ring(3), seal: ring(4))

    private static func ring(_ byte: UInt8) -> KeyRing {
        guard let ring = KeyRing([(KeyID(1), [UInt8](repeating: byte, count: 32))]) else {
            preconditionFailure("32 bytes make a ring")
        }
        return ring
    }
}
