// SPDX-License-Identifier: Apache-2.0

package import Logging
import SettingsReading
package import Verification

/// Settings for text messages by Amazon SNS from one account and region.
package struct SNSConfiguration: Sendable {
    /// The purpose of a message, which decides Amazon's route and price.
    package enum SMSType: String, Sendable, CaseIterable {
        case transactional = "Transactional"
        case promotional = "Promotional"
    }

    /// The name of the account in the policy's routes.
    package var name: String
    package var region: String

    /// The endpoint: a scheme and a host without a path, since the signature assumes the path `/`.
    package var baseURL: String
    package var accessKey: AccessKey

    /// The sender that handsets show, where the country allows one.
    package var senderID: String?

    /// A phone number or a short code of the account.
    package var originationNumber: String?
    package var smsType = SMSType.transactional

    /// The maximum price of one message, in US dollars.
    package var maxPrice: String?
    package var connection: ConnectionOptions?
}

package struct AccessKey: Sendable {
    package let id: String
    package let secret: Secret

    /// The session token of temporary credentials.
    package var sessionToken: Secret?
}

extension SNSConfiguration: ProviderModule {
    package static let kind = "sns"
    package static let keys = [
        "region", "baseURL", "accessKeyId", "secretAccessKey", "secretAccessKeyFile", "sessionToken",
        "sessionTokenFile", "senderId", "originationNumber", "smsType", "maxPrice", "proxy", "proxyFile",
    ]
    package static let receipts: ReceiptFormat? = SNSDeliveryStatus.format

    package var trustsSystem: Bool { baseURL.hasPrefix("https://") }

    package init?(_ settings: ProviderReader) {
        let region = settings.required("region", .awsRegion, such: "eu-central-1")
        let keyID = settings.required("accessKeyId", .name(upTo: 128), such: "AKIA…")
        let secret = settings.requiredSecret("secretAccessKey", such: "secretAccessKeyFile: /run/secrets/aws")
        let token = settings.secret("sessionToken")
        let baseURL = settings.optional("baseURL", .endpoint)
        let senderID = settings.optional("senderId", .senderID)
        let number = settings.optional("originationNumber", .origination)
        let type = settings.optional("smsType", .choice) ?? SMSType.transactional
        let maxPrice = settings.optional("maxPrice", .price)
        guard let region, let keyID, let secret else { return nil }
        self.init(
            name: settings.name,
            region: region,
            baseURL: baseURL ?? "https://sns.\(region).amazonaws.com",
            accessKey: AccessKey(id: keyID, secret: secret.secret, sessionToken: token?.secret),
            senderID: senderID,
            originationNumber: number,
            smsType: type,
            maxPrice: maxPrice,
            connection: settings.connection()
        )
    }

    package func provider(client: ProviderClient, logger: Logger) -> any MessageProvider {
        SNSProvider(configuration: self, client: client)
    }
}

extension ValueRule where Value == String {
    fileprivate static var awsRegion: Self {
        Self(requirement: "must be a region of AWS such as eu-central-1") { text in
            let fits = text.utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || isDigit(byte) || byte == UInt8(ascii: "-")
            }
            return (1...32).contains(text.utf8.count) && fits ? text : nil
        }
    }

    /// An address without a path, since the signature assumes the path `/`.
    fileprivate static var endpoint: Self {
        Self(requirement: "must be an address such as https://host:port, without a path") { text in
            address.parse(text).flatMap { $0.utf8.count { $0 == UInt8(ascii: "/") } == 2 ? $0 : nil }
        }
    }

    /// The form that Amazon's guide gives for sender ids.
    fileprivate static var senderID: Self {
        Self(requirement: "must be 3 to 11 letters, digits or hyphens, with at least one letter") { text in
            let fits = text.utf8.allSatisfy { byte in isLetter(byte) || isDigit(byte) || byte == UInt8(ascii: "-") }
            return (3...11).contains(text.utf8.count) && fits && text.utf8.contains(where: isLetter) ? text : nil
        }
    }

    fileprivate static var origination: Self {
        Self(requirement: "must be a phone number such as \"+12065550100\" or a short code, in quotes") { text in
            let digits = text.hasPrefix("+") ? text.dropFirst() : Substring(text)
            return (3...15).contains(digits.utf8.count) && digits.utf8.allSatisfy(isDigit) ? text : nil
        }
    }

    fileprivate static var price: Self {
        let number = ValueRule<Double>.number(in: 0.0001...100)
        return Self(requirement: "\(number.requirement), in US dollars a message") { text in
            number.parse(text).map { _ in text }
        }
    }
}

private func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
}

private func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
}
