// SPDX-License-Identifier: Apache-2.0

package import Verification

/// What a worker holds at one moment, and how its providers are.
package struct Load: Sendable {
    package let inFlight: Int
    package let maxInFlight: Int

    /// Events that wait to be produced by this worker.
    package let unpublished: Int
    package let providers: [String: ProviderHealth.State]
}
