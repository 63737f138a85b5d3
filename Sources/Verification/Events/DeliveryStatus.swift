// SPDX-License-Identifier: Apache-2.0

/// The `status` of a delivery event.
package enum DeliveryStatus: String, Sendable, Hashable, CaseIterable {
    case sent
    case delivered
    case undelivered
    case suppressed
    case rejected
    case expiredUnsent = "expired_unsent"
    case failed
    case unknown
    case expired
}
