// SPDX-License-Identifier: Apache-2.0

package import Logging
import Logs
package import Verification

/// A provider for development that accepts every message and sends nothing.
///
/// It logs the masked number and never the text, which holds the code.
package struct LogProvider: MessageProvider {
    package let name: String
    private let logger: Logger

    package init(name: String, logger: Logger) {
        self.name = name
        self.logger = logger
    }

    package func send(_ message: OutboundMessage) async -> ProviderAnswer {
        logger.log(
            .providerLogged,
            [
                .provider: .text(name), .recipient: .text(message.content.recipient.masked),
                .sendID: LogValue(message.sendID),
            ].adding(message.trace)
        )
        return ProviderAnswer(.accepted, messageID: message.sendID.description)
    }
}

/// Settings of a provider that writes messages to the log, for trials without a provider.
package struct LogConfiguration: ProviderModule {
    package static let kind = "log"
    package static let keys: [String] = []

    package let name: String
    package let trustsSystem = false

    package init(_ settings: ProviderReader) {
        name = settings.name
    }

    package func provider(client: ProviderClient, logger: Logger) -> any MessageProvider {
        LogProvider(name: name, logger: logger)
    }
}
