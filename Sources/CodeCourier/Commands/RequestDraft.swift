// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

/// A request made from the options of a command, as an API gateway would make it.
struct RequestDraft {
    enum Recipient {
        case phone(String)

        /// With `url`, the target that a link leads on to.
        case email(String, url: String?)
        case device(token: String, bundleID: String?)
    }

    var requestID: String
    var tenant = "default"
    var purpose = "sign_in"
    let recipient: Recipient
    var subject: String?
    var languageCode: String?
    var ip: String?
    var isConfirmed = false
    var requestedAt: Timestamp?

    /// A new idempotency key.
    static func newID() -> String {
        var generator = SystemRandomNumberGenerator()
        return UUIDValue.version7(at: .now, using: &generator).description
    }

    /// The record's key: requests of one recipient stay in order.
    var key: String {
        switch recipient {
        case .phone(let number): number
        case .email(let address, _): address
        case .device(let token, _): token
        }
    }

    var json: [UInt8] {
        var writer = JSONWriter()
        writer.object { request in
            request.member("requestId", requestID)
            request.member("tenant", tenant)
            request.member("channel", channel.rawValue)
            request.member("purpose", purpose)
            request.object("recipient") { fields in
                write(recipient, &fields)
                fields.member("confirmed", isConfirmed)
            }
            if case .email(_, let url?) = recipient {
                request.object("actionCode") { fields in
                    fields.member("url", url)
                    fields.member("handleCodeInApp", true)
                }
            }
            request.member("subject", ifPresent: subject)
            request.member("languageCode", ifPresent: languageCode)
            if let ip { request.object("client") { $0.member("ip", ip) } }
            request.member("requestedAt", ifPresent: requestedAt?.rfc3339)
        }
        return writer.bytes
    }

    private var channel: Channel {
        switch recipient {
        case .phone: .sms
        case .email: .email
        case .device: .apns
        }
    }

    private func write(_ recipient: Recipient, _ fields: inout JSONWriter) {
        switch recipient {
        case .phone(let number): fields.member("phoneNumber", number)
        case .email(let address, _): fields.member("email", address)
        case .device(let token, let bundleID):
            fields.member("deviceToken", token)
            fields.member("bundleId", ifPresent: bundleID)
        }
    }
}
