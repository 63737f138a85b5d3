// SPDX-License-Identifier: Apache-2.0

package import Formats

/// The client of the request, as the gateway sees it; limits use its address and its device.
///
/// `deviceId`, `appId` and `userAgent` are accepted with any text and not stored. All fields are hints.
package struct RequestClient: Sendable, Hashable, Redacted {
    package let ip: IPAddress?

    /// The device's id, of any form.
    package let deviceID: String?
    package let platform: ClientPlatform?

    package var description: String { "client" }

    private static let unused = ["appId", "userAgent"]

    init(_ fields: RequestFields, _ unread: inout [String]) {
        ip = fields.hint("ip", &unread) { IPAddress(peer: $0) }
        deviceID = fields.hint("deviceId", &unread) { $0 }
        platform = fields.hint("platform", &unread) { ClientPlatform(rawValue: $0.lowercased()) }
        for name in Self.unused { fields.checkHint(name, &unread) }
    }
}

package enum ClientPlatform: String, Sendable, Hashable, CaseIterable {
    case ios
    case android
    case web
}

/// The result of an app verification service for the client.
package struct AppVerification: Sendable, Hashable {
    /// The method of verification; `none` by default.
    package let method: AppVerificationMethod

    package let verdict: AppVerificationVerdict?

    /// The score from 0 to 1, where 1 is certainly human.
    package let score: Double?

    init(_ fields: RequestFields) throws(RequestFault) {
        method = try fields.choice("method") ?? .notVerified
        verdict = try fields.choice("verdict")
        score = try fields.number("score", within: 0...1)
    }
}

/// The methods of distinguishing the real app from a script.
package enum AppVerificationMethod: String, Sendable, Hashable, CaseIterable {
    case silentPush = "silent_push"
    case recaptcha
    case playIntegrity = "play_integrity"
    case appAttest = "app_attest"
    case notVerified = "none"
}

package enum AppVerificationVerdict: String, Sendable, Hashable, CaseIterable {
    case pass
    case fail
}

/// The name of an app as it may appear in a message: 1 to 40 Unicode scalars that phones do not reinterpret.
///
/// A request's name is the caller's only free text in a message that people trust. So it must have no `TextFlaw`: no
/// control character, no `@`, no link, and at most three digits. The operator's own name may look like a site's, such
/// as Booking.com.
package struct AppName: Sendable, Hashable, CustomStringConvertible {
    /// The name as received, which is part of the payload's digest.
    package let given: String

    /// The name as messages show it, by `Typography`.
    package let text: String

    /// A name from a request.
    package init?(_ given: String) {
        self.init(given, allowing: [])
    }

    /// A name from the operator's policy.
    package init?(own given: String) {
        self.init(given, allowing: [.site])
    }

    private init?(_ given: String, allowing allowed: Set<TextFlaw>) {
        let text = Typography.plain(given)
        guard text.isPlain(within: 1...40) else { return nil }
        if let flaw = TextFlaw(of: text), !allowed.contains(flaw) { return nil }
        self.given = given
        self.text = text
    }

    package var description: String { text }
}
