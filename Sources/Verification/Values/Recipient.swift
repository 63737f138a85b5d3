// SPDX-License-Identifier: Apache-2.0

/// Who proves to own what: one phone number, e-mail address or device.
///
/// It describes itself masked, to interpolation and `dump` alike; the whole address is had only by asking for it.
package enum Recipient: Sendable, Hashable, Redacted {
    case phone(PhoneNumber)
    case email(EmailAddress)
    case device(DeviceToken)

    package var channel: Channel {
        switch self {
        case .phone: .sms
        case .email: .email
        case .device: .apns
        }
    }

    /// The one spelling that fingerprints, slots and limits use.
    package var canonical: String {
        switch self {
        case .phone(let number): number.e164
        case .email(let address): address.canonical
        case .device(let token): token.hex
        }
    }

    /// What may be shown in events and logs.
    package var masked: String {
        switch self {
        case .phone(let number): number.masked
        case .email(let address): address.masked
        case .device(let token): token.masked
        }
    }

    /// The app of a device, which its canonical form leaves out.
    package var pushApp: PushApp? {
        guard case .device(let token) = self else { return nil }
        return PushApp(bundleID: token.bundleID, environment: token.environment)
    }

    /// Reads back what `canonical` wrote, or nil; a device needs its app as well.
    package init?(_ channel: Channel, canonical: String, pushApp: PushApp?) {
        switch channel {
        case .sms:
            guard let number = PhoneNumber(canonical) else { return nil }
            self = .phone(number)
        case .email:
            guard let address = EmailAddress(canonical) else { return nil }
            self = .email(address)
        case .apns:
            guard let pushApp,
                let token = DeviceToken(
                    hex: canonical,
                    bundleID: pushApp.bundleID,
                    environment: pushApp.environment
                )
            else { return nil }
            self = .device(token)
        }
    }

    package var description: String { masked }
}
