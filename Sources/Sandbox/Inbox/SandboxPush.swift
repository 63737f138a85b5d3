// SPDX-License-Identifier: Apache-2.0

/// A silent push that the sandbox took.
package struct SandboxPush: Sendable, Hashable, Codable {
    /// 1, 2, … in the order of acceptance.
    package let sequence: Int
    /// The `apns-id`.
    package let sid: String
    package let token: String
    /// The bundle identifier of the app.
    package let topic: String
    package let pushType: String
    package let priority: Int?
    /// What app verification hands to the app.
    package let receipt: String?
    package let secret: String?
    /// The body as it came.
    package let payload: String
    /// RFC 3339.
    package let receivedAt: String
}
