// SPDX-License-Identifier: Apache-2.0

/// Settings for pushes to the apps of one Apple developer team.
package struct APNsConfiguration: Sendable {
    /// Apple's own addresses, without a trailing slash.
    package static let defaultBaseURL = "https://api.push.apple.com"
    package static let defaultSandboxBaseURL = "https://api.sandbox.push.apple.com"

    package var keyID: String
    package var teamID: String
    package var key: APNsSigningKey
    package var baseURL: String
    package var sandboxBaseURL: String

    /// The path of a PEM file with the trusted certificate authorities; nil for those of the system.
    package var authorities: String?
    package var proxy: ProxyAddress?

    package init(
        keyID: String,
        teamID: String,
        key: APNsSigningKey,
        baseURL: String = APNsConfiguration.defaultBaseURL,
        sandboxBaseURL: String = APNsConfiguration.defaultSandboxBaseURL,
        authorities: String? = nil,
        proxy: ProxyAddress? = nil
    ) {
        self.proxy = proxy
        self.keyID = keyID
        self.teamID = teamID
        self.key = key
        self.baseURL = baseURL
        self.sandboxBaseURL = sandboxBaseURL
        self.authorities = authorities
    }
}
