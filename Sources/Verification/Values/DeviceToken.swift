// SPDX-License-Identifier: Apache-2.0

import Formats

/// An APNs device token, with its app and environment.
package struct DeviceToken: Sendable, Hashable, Redacted {
    /// The token, 64 to 200 hex digits in lower case.
    package let hex: String

    /// The app's bundle identifier: at most 155 letters, digits, hyphens and periods.
    package let bundleID: String

    package let environment: PushEnvironment

    package init?(hex: String, bundleID: String, environment: PushEnvironment) {
        guard let token = Self.lowerHex(hex), Self.isBundleID(bundleID) else { return nil }
        self.hex = token
        self.bundleID = bundleID
        self.environment = environment
    }

    package var masked: String { "\(hex.prefix(4))…" }

    package var description: String { masked }

    /// The token in lower case; nil if the text is no token.
    static func lowerHex(_ text: String) -> String? {
        guard text.isASCII(within: 64...200, where: { Hexadecimal.value(of: $0) != nil }) else { return nil }
        return text.lowercased()
    }

    /// True if the text is a bundle identifier, by Apple's rules.
    static func isBundleID(_ text: String) -> Bool {
        text.isASCII(within: 1...155) {
            $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".")
        }
    }
}

/// The APNs environment that a device token belongs to.
package enum PushEnvironment: String, Sendable, Hashable, CaseIterable {
    case production
    case sandbox
    case unknown
}

/// The app and environment of a device token, which a push needs beside the token.
package struct PushApp: Sendable, Hashable {
    package let bundleID: String
    package let environment: PushEnvironment

    package init(bundleID: String, environment: PushEnvironment) {
        self.bundleID = bundleID
        self.environment = environment
    }
}
