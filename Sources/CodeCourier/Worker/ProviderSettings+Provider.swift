// SPDX-License-Identifier: Apache-2.0

import Logging
import Providers
import Verification

extension ProviderSettings {
    /// Creates the provider of these settings, with the worker's own client.
    func provider(client: ProviderClient, logger: Logger) -> any MessageProvider {
        switch kind {
        case .log:
            LogProvider(name: name, logger: logger)
        case .twilio(let twilio):
            TwilioProvider(configuration: twilio, client: client)
        case .vonage(let vonage):
            VonageProvider(configuration: vonage, client: client)
        case .sns(let sns):
            SNSProvider(configuration: sns, client: client)
        case .http(let gateway):
            GatewayProvider(configuration: gateway, client: client)
        case .smtp(let smtp):
            SMTPProvider(name: name, configuration: smtp)
        case .apns(let apns):
            APNsProvider(name: name, configuration: apns)
        }
    }
}
