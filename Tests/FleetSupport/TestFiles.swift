// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

package enum TestPolicy {
    /// One tenant that allows a few regions, some only for confirmed recipients.
    package static let standard = policy(version: "test.1", regions: "US, GB, DE, IN")

    package static func policy(version: String, regions: String) -> String {
        """
        version: "\(version)"
        tenants:
          default:
            appName: Acme
            regions:
              allowlistOnly: { allowedRegions: [\(regions)] }
              confirmedOnlyRegions: [IN]
            limits: { perTenant: [{ count: 100000, per: 1m }] }
            routes: { default: [main] }
        """
    }
}

/// The rings of `CodeKeys.test`, in the format of a configuration.
package enum TestKeys {
    package static let code = ring(1)
    package static let hash = ring(2)
    package static let fingerprint = ring(3)
    package static let seal = ring(4)
    package static let all = [code, hash, fingerprint, seal].map { String($0.dropFirst(2)) }

    private static func ring(_ byte: UInt8) -> String {
        "1:" + Data(repeating: byte, count: 32).base64EncodedString()
    }
}
