// SPDX-License-Identifier: Apache-2.0

package import Logging
import SettingsReading
package import Verification

/// Settings for pushes to the apps of one Apple developer team.
package struct APNsConfiguration: Sendable {
    /// Apple's own addresses, without a trailing slash.
    package static let defaultBaseURL = "https://api.push.apple.com"
    package static let defaultSandboxBaseURL = "https://api.sandbox.push.apple.com"

    package var name: String
    package var keyID: String
    package var teamID: String
    package var key: APNsSigningKey
    package var baseURL = APNsConfiguration.defaultBaseURL
    package var sandboxBaseURL = APNsConfiguration.defaultSandboxBaseURL

    /// The path of a PEM file with the trusted certificate authorities; nil for those of the system.
    package var authorities: String?
    package var proxy: ProxyAddress?
}

extension APNsConfiguration: ProviderModule {
    package static let kind = "apns"
    package static let channel = Channel.apns
    package static let keys = [
        "baseURL", "sandboxBaseURL", "caFile", "keyId", "teamId", "privateKey", "privateKeyFile", "proxy", "proxyFile",
    ]

    package var trustsSystem: Bool { authorities == nil }

    package init?(_ settings: ProviderReader) {
        let keyID = settings.required("keyId", .appleID, such: "ABC123DEFG")
        let teamID = settings.required("teamId", .appleID, such: "DEF123GHIJ")
        let key = Self.signingKey(settings)
        let baseURL = settings.optional("baseURL", .secureAddress)
        let sandboxBaseURL = settings.optional("sandboxBaseURL", .secureAddress)
        let authorities = settings.authorities()
        guard let keyID, let teamID, let key else { return nil }
        self.init(
            name: settings.name,
            keyID: keyID,
            teamID: teamID,
            key: key,
            baseURL: baseURL ?? Self.defaultBaseURL,
            sandboxBaseURL: sandboxBaseURL ?? Self.defaultSandboxBaseURL,
            authorities: authorities,
            proxy: settings.proxy()
        )
    }

    private static func signingKey(_ settings: ProviderReader) -> APNsSigningKey? {
        let example = "privateKeyFile: /run/secrets/apns.p8"
        guard let setting = settings.requiredSecret("privateKey", .lines, such: example) else { return nil }
        if let signingKey = APNsSigningKey(pem: setting.secret) { return signingKey }
        settings.fault(setting, "must be the .p8 key that Apple's site gives, a P-256 key in PEM")
        return nil
    }

    package func provider(client: ProviderClient, logger: Logger) -> any MessageProvider {
        APNsProvider(configuration: self)
    }
}

extension ValueRule where Value == String {
    fileprivate static var appleID: Self {
        let name = name(upTo: 64)
        return Self(requirement: "must be the id that Apple's site shows, such as ABC123DEFG", parse: name.parse)
    }

    /// An address with TLS: tokens and secrets are sent to it, and TLS also negotiates HTTP/2.
    ///
    /// Without TLS only a simulation on this machine is meant; it gets HTTP/1.1.
    fileprivate static var secureAddress: Self {
        let requirement = "must be an address such as https://host:port, without user, query or fragment"
        return Self(requirement: "\(requirement), or of this machine: http://127.0.0.1:port") { text in
            let isLocal = ["127.0.0.1", "[::1]", "localhost"].contains { host in
                text == "http://\(host)" || text.hasPrefix("http://\(host):") || text.hasPrefix("http://\(host)/")
            }
            return isLocal || text.hasPrefix("https://") ? address.parse(text) : nil
        }
    }
}
