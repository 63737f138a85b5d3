// SPDX-License-Identifier: Apache-2.0

import Formats

extension VerificationRequest {
    /// The tenant of a request that names none.
    static let defaultTenant = "default"

    /// Reads a record into a request, or into a reason to refuse or reject it.
    ///
    /// Total: every record gives exactly one of the three readings. The reported fault is the first in the order of the
    /// fields' table; unknown fields and other channels' fields of `recipient` are ignored.
    ///
    /// It uses no clock: the decision checks by the database's clock if the request's time is in the future.
    package static func read(_ record: InboundRecord) -> RequestReading {
        let event: CloudEvent
        do {
            event = try CloudEvent.payload(of: record, expecting: .requested)
        } catch {
            return .deadLetter(error)
        }
        guard case .object(let object) = event.data else { return .deadLetter(.notAnObject) }
        guard let identity = object["requestId"], !identity.isNull else { return .deadLetter(.missingRequestID) }
        guard case .string(let requestID) = identity, requestID.isPlain(within: 1...128) else {
            return .deadLetter(.invalidRequestID)
        }
        let fields = RequestFields(object)
        do {
            return .request(
                try VerificationRequest(
                    fields,
                    requestID: requestID,
                    arrivedAt: record.firstTimestamp,
                    trace: event.trace
                )
            )
        } catch {
            return .invalid(InvalidRequest(error, in: fields, requestID: requestID, trace: event.trace))
        }
    }
}

extension RequestFields {
    func tenant() throws(RequestFault) -> String {
        try parsed("tenant") { Self.isTenant($0) ? $0 : nil } ?? VerificationRequest.defaultTenant
    }

    func channel() throws(RequestFault) -> Channel {
        try choice("channel") ?? .sms
    }

    func purpose() throws(RequestFault) -> Purpose {
        guard let purpose = try choice("purpose", of: Purpose.self) else { throw fault("purpose") }
        return purpose
    }

    func subject() throws(RequestFault) -> String? { try text("subject", within: 1...128) }

    /// Reads the channel's recipient from the fields of `recipient`.
    func recipient(of channel: Channel) throws(RequestFault) -> Recipient {
        switch channel {
        case .sms:
            if case .string("")? = object["phoneNumber"] { throw fault("phoneNumber", .invalidPhoneNumber) }
            let number = try parsed("phoneNumber", or: .invalidPhoneNumber) { PhoneNumber($0) }
            guard let number else { throw fault("phoneNumber") }
            return .phone(number)
        case .email:
            guard let address = try parsed("email", by: { EmailAddress($0) }) else { throw fault("email") }
            return .email(address)
        case .apns:
            guard let hex = try parsed("deviceToken", by: DeviceToken.lowerHex) else { throw fault("deviceToken") }
            let bundleID = try parsed("bundleId") { DeviceToken.isBundleID($0) ? $0 : nil }
            guard let bundleID else { throw fault("bundleId") }
            let environment = try choice("environment", of: PushEnvironment.self) ?? .unknown
            guard let token = DeviceToken(hex: hex, bundleID: bundleID, environment: environment) else {
                throw fault("deviceToken")
            }
            return .device(token)
        }
    }

    private static func isTenant(_ text: String) -> Bool {
        text.isASCII(within: 1...64) {
            $0.isASCIILetterOrDigit || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-")
        }
    }
}

extension InvalidRequest {
    /// Creates the refusal for a fault, with those of the repeated fields that can be read on their own.
    fileprivate init(_ fault: RequestFault, in fields: RequestFields, requestID: String, trace: TraceContext?) {
        self.requestID = requestID
        tenant = (try? fields.tenant()) ?? VerificationRequest.defaultTenant
        channel = try? fields.channel()
        purpose = try? fields.purpose()
        subject = try? fields.subject()
        field = fault.field
        reason = fault.reason
        self.trace = trace
    }
}

extension VerificationRequest {
    /// The bytes of the request's identity.
    package var payloadDigestInput: [UInt8] {
        var joiner = FieldJoiner()
        appendIdentity(to: &joiner)
        return joiner.bytes
    }

    /// Appends the request's identity, to be digested: the same id with other bytes is a conflict.
    ///
    /// Fields that a gateway may change in a repeated request are left out: times, the client, its app verification,
    /// the trace context. No present field is empty, so an absent one is written as an empty field. Stored digests
    /// depend on the order, so it never changes; a new field is appended at the end, and only if present.
    func appendIdentity(to joiner: inout FieldJoiner) {
        joiner.append(channel.rawValue)
        joiner.append(purpose.rawValue)
        joiner.append(recipient.canonical)
        if case .device(let token) = recipient {
            joiner.append(token.bundleID)
            joiner.append(token.environment.rawValue)
        } else {
            joiner.append("")
            joiner.append("")
        }
        joiner.append(languageCode?.text)
        joiner.append(appName?.given)
        joiner.append(subject)
        joiner.append(autofill?.domain?.text)
        joiner.append(autofill?.androidAppHash)
        joiner.append(actionCode?.url?.text)
        joiner.append(actionCode?.linkDomain?.text)
        joiner.append(actionCode?.iosBundleID)
        joiner.append(actionCode?.androidPackageName)
        joiner.append(actionCode?.androidMinimumVersion)
        joiner.append(actionCode?.androidInstallApp?.description)
        joiner.append(actionCode?.handleCodeInApp?.description)
    }
}
