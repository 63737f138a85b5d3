// SPDX-License-Identifier: Apache-2.0

/// An e-mail that the sandbox took.
package struct SandboxEmail: Sendable, Hashable, Codable {
    /// 1, 2, … in the order of acceptance.
    package let sequence: Int
    package let sid: String
    /// The `Message-ID` without its angle brackets.
    package let messageID: String?
    package let subject: String
    /// The header as people read it, or the envelope's sender where there is none.
    package let from: String
    /// The recipients of the envelope.
    package let to: [String]
    package let text: String?
    package let html: String?
    /// The web addresses in the text and the HTML, each once.
    package let links: [String]
    /// The code found in the text, or in the HTML's where there is none.
    package let code: String?
    /// RFC 3339.
    package let receivedAt: String
    /// The whole mail's, in bytes.
    package let size: Int
}
