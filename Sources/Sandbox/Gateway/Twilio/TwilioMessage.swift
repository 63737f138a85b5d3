// SPDX-License-Identifier: Apache-2.0

import Formats

/// A message in Twilio's format, with every field of the API.
struct TwilioMessage: Encodable {
    private let message: SandboxMessage
    private let acceptedAt: Timestamp

    init(_ stored: Inbox.Stored) {
        (message, acceptedAt) = stored
    }

    private enum CodingKeys: String, CodingKey {
        case sid, status, to, from, body, uri, direction, price
        case accountSid = "account_sid"
        case apiVersion = "api_version"
        case dateCreated = "date_created"
        case dateSent = "date_sent"
        case dateUpdated = "date_updated"
        case errorCode = "error_code"
        case errorMessage = "error_message"
        case messagingServiceSid = "messaging_service_sid"
        case mediaCount = "num_media"
        case segmentCount = "num_segments"
        case priceUnit = "price_unit"
        case subresources = "subresource_uris"
    }

    func encode(to encoder: any Encoder) throws {
        let path = "\(TwilioGateway.path(account: message.accountSid))/\(message.sid)"
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(message.sid, forKey: .sid)
        try container.encode(message.accountSid, forKey: .accountSid)
        try container.encode(message.messagingServiceSid, forKey: .messagingServiceSid)
        try container.encode(TwilioGateway.version, forKey: .apiVersion)
        try container.encode(message.status, forKey: .status)
        try container.encode(message.to, forKey: .to)
        try container.encode(message.from.isEmpty ? nil : message.from, forKey: .from)
        try container.encode(message.body, forKey: .body)
        try container.encode("outbound-api", forKey: .direction)
        try container.encode(String(message.segments), forKey: .segmentCount)
        try container.encode("0", forKey: .mediaCount)
        try container.encode(acceptedAt.mailDate, forKey: .dateCreated)
        try container.encode(acceptedAt.mailDate, forKey: .dateUpdated)
        try container.encode(message.status == .queued ? nil : acceptedAt.mailDate, forKey: .dateSent)
        try container.encode(message.errorCode, forKey: .errorCode)
        try container.encodeNil(forKey: .errorMessage)
        try container.encodeNil(forKey: .price)
        try container.encode("USD", forKey: .priceUnit)
        try container.encode("\(path).json", forKey: .uri)
        try container.encode(["media": "\(path)/Media.json"], forKey: .subresources)
    }
}

/// A page of messages in Twilio's format; there is only one.
struct TwilioMessagePage: Encodable {
    private let messages: [TwilioMessage]
    private let pageSize: Int
    private let uri: String

    init(_ messages: [Inbox.Stored], account: String, pageSize: Int) {
        self.messages = messages.map { TwilioMessage($0) }
        self.pageSize = pageSize
        uri = "\(TwilioGateway.path(account: account)).json?PageSize=\(pageSize)&Page=0"
    }

    private enum CodingKeys: String, CodingKey {
        case messages, page, start, end, uri
        case pageSize = "page_size"
        case firstPage = "first_page_uri"
        case nextPage = "next_page_uri"
        case previousPage = "previous_page_uri"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(messages, forKey: .messages)
        try container.encode(0, forKey: .page)
        try container.encode(pageSize, forKey: .pageSize)
        try container.encode(0, forKey: .start)
        try container.encode(max(0, messages.count - 1), forKey: .end)
        try container.encode(uri, forKey: .uri)
        try container.encode(uri, forKey: .firstPage)
        try container.encodeNil(forKey: .nextPage)
        try container.encodeNil(forKey: .previousPage)
    }
}
