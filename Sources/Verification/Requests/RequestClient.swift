// SPDX-License-Identifier: Apache-2.0

/// What the gateway knows of the client that asks; limits use it.
///
/// The texts are as the client gave them, without control characters; an empty one is nil.
package struct RequestClient: Sendable, Hashable, Redacted {
    package let ip: IPAddress?
    package let deviceID: String?
    package let appID: String?
    package let platform: ClientPlatform?
    package let userAgent: String?

    package var description: String { "client" }

    init(_ fields: RequestFields) throws(RequestFault) {
        ip = try fields.parsed("ip") { IPAddress($0) }
        deviceID = try Self.text("deviceId", upTo: 256, in: fields)
        appID = try Self.text("appId", upTo: 256, in: fields)
        platform = try fields.choice("platform")
        userAgent = try Self.text("userAgent", upTo: 2048, in: fields)
    }

    private static func text(_ name: String, upTo length: Int, in fields: RequestFields) throws(RequestFault) -> String?
    {
        guard let text = try fields.text(name, within: 0...length), !text.isEmpty else { return nil }
        return text
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
