// SPDX-License-Identifier: Apache-2.0

/// The API by which a message arrived.
package enum SandboxProvider: String, Sendable, Hashable, Codable, CaseIterable {
    case twilio
    /// Vonage's SMS API.
    case vonage
    /// Vonage's Messages API.
    case vonageMessages = "vonage_messages"
    /// A gateway that takes JSON and an `Idempotency-Key`.
    case http
    case smtp
    case apns
}
