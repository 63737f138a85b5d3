// SPDX-License-Identifier: Apache-2.0

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
    package var smsType: SMSType

    /// The maximum price of one message, in US dollars.
    package var maxPrice: String?
    package var connection: ConnectionOptions?

    package init(
        name: String,
        region: String,
        baseURL: String? = nil,
        accessKey: AccessKey,
        senderID: String? = nil,
        originationNumber: String? = nil,
        smsType: SMSType = .transactional,
        maxPrice: String? = nil,
        connection: ConnectionOptions? = nil
    ) {
        self.connection = connection
        self.name = name
        self.region = region
        self.baseURL = baseURL ?? "https://sns.\(region).amazonaws.com"
        self.accessKey = accessKey
        self.senderID = senderID
        self.originationNumber = originationNumber
        self.smsType = smsType
        self.maxPrice = maxPrice
    }
}

package struct AccessKey: Sendable {
    package let id: String
    package let secret: Secret

    /// The session token of temporary credentials.
    package let sessionToken: Secret?

    package init(id: String, secret: Secret, sessionToken: Secret? = nil) {
        self.id = id
        self.secret = secret
        self.sessionToken = sessionToken
    }
}
