// SPDX-License-Identifier: Apache-2.0

import Providers
import SMTPClient

extension [ProviderSettings] {
    /// The fault of a system without certificate authorities, where a provider depends on them; otherwise nil.
    ///
    /// Without them every call would fail, as in a container image that lacks the package.
    func faultOfAuthorities(systems path: String?) -> String? {
        guard path == nil, let provider = first(where: \.trustsTheSystem) else { return nil }
        return "finds no certificate authorities on this system, by which \(provider.name) is trusted; install "
            + "ca-certificates, or give it a caFile where its kind takes one"
    }
}

extension ProviderSettings {
    /// True when its certificate is verified by the system's authorities.
    fileprivate var trustsTheSystem: Bool {
        let scheme = "https://"
        return switch kind {
        case .twilio(let twilio): twilio.baseURL.hasPrefix(scheme)
        case .vonage(let vonage): vonage.baseURL.hasPrefix(scheme)
        case .sns(let sns): sns.baseURL.hasPrefix(scheme)
        case .http(let gateway):
            gateway.connection?.authorities == nil && gateway.url.filled([:], escaping: .url).hasPrefix(scheme)
        case .smtp(let smtp): smtp.server.encryption != .none && smtp.server.authorities == nil
        case .apns(let apns): apns.authorities == nil
        case .log: false
        }
    }
}
