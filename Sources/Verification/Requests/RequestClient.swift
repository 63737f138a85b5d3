// SPDX-License-Identifier: Apache-2.0

package import Formats

/// The client of the request, as the gateway sees it; limits use its address.
///
/// `deviceId`, `appId` and `userAgent` are accepted with any text and not stored. All fields are hints.
package struct RequestClient: Sendable, Hashable, Redacted {
    package let ip: IPAddress?
    package let platform: ClientPlatform?

    package var description: String { "client" }

    init(_ fields: RequestFields, _ unread: inout [String]) {
        ip = fields.hint("ip", &unread) { IPAddress(peer: $0) }
        platform = fields.hint("platform", &unread) { ClientPlatform(rawValue: $0.lowercased()) }
        for name in ["deviceId", "appId", "userAgent"] { _ = fields.hint(name, &unread) { $0 } }
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
