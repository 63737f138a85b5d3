// SPDX-License-Identifier: Apache-2.0

/// A silent push that the sandbox accepted.
package struct SandboxPush: Sendable, Hashable, Codable {
    /// The number in the order of acceptance, from 1.
    package let sequence: Int
    /// The `apns-id`.
    package let sid: String
    package let token: String
    /// The bundle identifier of the app.
    package let topic: String
    package let pushType: String
    package let priority: Int?
    /// The receipt and secret for app verification.
    package let receipt: String?
    package let secret: String?
    /// The body as received.
    package let payload: String
    /// In RFC 3339.
    package let receivedAt: String
}
