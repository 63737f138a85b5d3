// SPDX-License-Identifier: Apache-2.0

/// An e-mail that the sandbox accepted.
package struct SandboxEmail: Sendable, Hashable, Codable {
    /// The number in the order of acceptance, from 1.
    package let sequence: Int
    package let sid: String
    /// The `Message-ID` without its angle brackets.
    package let messageID: String?
    package let subject: String
    /// The decoded `From` header, or the envelope's sender without one.
    package let from: String
    /// The recipients of the envelope.
    package let to: [String]
    package let text: String?
    package let html: String?
    /// The web addresses in the text and the HTML, without duplicates.
    package let links: [String]
    /// The code found in the text, or else in the HTML.
    package let code: String?
    /// In RFC 3339.
    package let receivedAt: String
    /// The size of the whole mail in bytes.
    package let size: Int
}
