// SPDX-License-Identifier: Apache-2.0

import Formats

/// The recipient of a verification: one phone number, e-mail address or device.
///
/// Its description is masked, for interpolation and `dump` alike; only explicit access gives the whole address.
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

    /// The canonical spelling that fingerprints, slots and limits use.
    package var canonical: String {
        switch self {
        case .phone(let number): number.e164
        case .email(let address): address.canonical
        case .device(let token): token.hex
        }
    }

    /// The form that events and logs may show.
    package var masked: String {
        switch self {
        case .phone(let number): number.masked
        case .email(let address): address.masked
        case .device(let token): token.masked
        }
    }

    /// The app of a device, which the canonical form omits.
    package var pushApp: PushApp? {
        guard case .device(let token) = self else { return nil }
        return PushApp(bundleID: token.bundleID, environment: token.environment)
    }

    /// Reads the format of `canonical`, or returns nil; a device needs its app as well.
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
