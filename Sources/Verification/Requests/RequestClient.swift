// SPDX-License-Identifier: Apache-2.0

/// What the gateway knows of the client that asks; limits use it.
///
/// `deviceId`, `appId` and `userAgent` are for rules to come: any texts are taken, and none of them is kept. All of it
/// are hints.
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

/// What kind of app asks.
package enum ClientPlatform: String, Sendable, Hashable, CaseIterable {
    case ios
    case android
    case web
}

/// What an app verification service said of the client.
package struct AppVerification: Sendable, Hashable {
    /// How the app was verified, `none` by default.
    package let method: AppVerificationMethod

    package let verdict: AppVerificationVerdict?

    /// From 0 to 1, where 1 is surely human.
    package let score: Double?

    init(_ fields: RequestFields) throws(RequestFault) {
        method = try fields.choice("method") ?? .notVerified
        verdict = try fields.choice("verdict")
        score = try fields.number("score", within: 0...1)
    }
}

/// The ways of telling the real app from a script.
package enum AppVerificationMethod: String, Sendable, Hashable, CaseIterable {
    case silentPush = "silent_push"
    case recaptcha
    case playIntegrity = "play_integrity"
    case appAttest = "app_attest"
    case notVerified = "none"
}

/// What came of an app verification.
package enum AppVerificationVerdict: String, Sendable, Hashable, CaseIterable {
    case pass
    case fail
}
