// SPDX-License-Identifier: Apache-2.0

package import Formats

/// The parameters that let a phone fill in the code automatically.
package struct RequestAutofill: Sendable, Hashable {
    /// The site that the code is bound to, for the line `@domain #code`.
    package let domain: HostName?

    /// The Android app's hash of exactly 11 characters, which ends the message.
    package let androidAppHash: String?

    init(_ fields: RequestFields, _ unread: inout [String]) {
        domain = fields.hint("domain", &unread) { HostName($0) }
        androidAppHash = fields.hint("androidAppHash", &unread) { Self.isAppHash($0) ? $0 : nil }
    }

    /// True if the text has the format of an Android app's hash.
    package static func isAppHash(_ text: String) -> Bool {
        text.isASCII(within: 11...11) {
            $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/")
        }
    }
}
