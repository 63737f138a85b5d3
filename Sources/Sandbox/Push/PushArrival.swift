// SPDX-License-Identifier: Apache-2.0

import Formats
import Hummingbird
import NIOCore

/// A complete request for a push, not yet checked.
struct PushArrival: Sendable {
    let time = Timestamp.now
    /// The given `apns-id`, or a new one in Apple's format.
    let identifier: String
    /// Apple's error for the push; `nil` for a valid one.
    let error: PushError?
    private let givenIdentifier: String?
    private let token: String
    private let topic: String
    private let pushType: String
    private let priority: Int?
    private let expiration: String?
    private let payload: String
    private let receipt: String?
    private let secret: String?
    private let remotePort: Int?

    init(_ request: Request, token: String, body: ByteBuffer, remotePort: Int?) {
        let header = { (name: String) in request.headers.first { $0.name.canonicalName == name }?.value }
        let object = JSONValue(body: body.readableBytesView)?.object
        // The members of Firebase's silent push; without them, those at the top level.
        let verification = object?["com.google.firebase.auth"]?.object ?? object
        givenIdentifier = header("apns-id")
        identifier = givenIdentifier ?? Identifier.uuid().uppercased()
        self.token = token
        topic = header("apns-topic") ?? ""
        pushType = header("apns-push-type") ?? ""
        priority = header("apns-priority").flatMap { Int($0) }
        expiration = header("apns-expiration")
        payload = String(buffer: body)
        receipt = verification?["receipt"]?.text
        secret = verification?["secret"]?.text
        self.remotePort = remotePort
        let checks = [
            Self.tokenFault(request, at: time), Self.isDeviceToken(token) ? nil : "BadDeviceToken",
            Self.headerFault(header), Self.payloadFault(body, object),
        ]
        error = checks.compactMap { $0 }.first.map { PushError($0) }
    }

    func push(sequence: Int) -> SandboxPush {
        SandboxPush(
            sequence: sequence,
            sid: identifier,
            token: token,
            topic: topic,
            pushType: pushType,
            priority: priority,
            receipt: receipt,
            secret: secret,
            payload: payload,
            receivedAt: time.rfc3339
        )
    }

    func recorded(outcome: String, isAccepted: Bool) -> RecordedRequest {
        RecordedRequest(
            kind: .push,
            provider: .apns,
            time: time.rfc3339,
            sid: isAccepted ? identifier : nil,
            reference: givenIdentifier,
            to: token,
            from: topic,
            body: payload,
            validityPeriod: expiration,
            remotePort: remotePort,
            outcome: outcome,
            accepted: isAccepted
        )
    }
}

// MARK: Checks

extension PushArrival {
    /// The fault of the provider token: it must be ES256 with a key id, a team, and an age of at most an hour.
    private static func tokenFault(_ request: Request, at time: Timestamp) -> String? {
        guard let bearer = Credentials(request)?.bearer else { return "MissingProviderToken" }
        guard
            let token = TokenShape(bearer), token.header["alg"]?.string == "ES256",
            token.header["kid"]?.string?.isEmpty == false, token.claims["iss"]?.string?.isEmpty == false,
            let issued = token.claims["iat"]?.number?.double
        else { return "InvalidProviderToken" }
        return Double(time.milliseconds) / 1000 - issued > 3600 ? "ExpiredProviderToken" : nil
    }

    /// True for 32 to 100 hexadecimal bytes, the tokens seen so far; Apple documents only that a token is opaque.
    private static func isDeviceToken(_ token: String) -> Bool {
        (64...200).contains(token.utf8.count) && token.utf8.count.isMultiple(of: 2)
            && token.utf8.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
    }

    private static func headerFault(_ header: (String) -> String?) -> String? {
        guard let topic = header("apns-topic"), !topic.isEmpty else { return "MissingTopic" }
        let types = ["alert", "background", "location", "voip", "complication", "fileprovider", "mdm", "liveactivity"]
        guard let type = header("apns-push-type"), types.contains(type) else { return "InvalidPushType" }
        let priority = header("apns-priority") ?? "10"
        if !["1", "5", "10"].contains(priority) || (type == "background" && priority == "10") { return "BadPriority" }
        if let identifier = header("apns-id"), !Identifier.isUUID(identifier) { return "BadMessageId" }
        if let expiration = header("apns-expiration"), UInt64(expiration) == nil { return "BadExpirationDate" }
        return nil
    }

    private static func payloadFault(_ body: ByteBuffer, _ object: JSONObject?) -> String? {
        if body.readableBytes > PushGateway.payloadLimit { return "PayloadTooLarge" }
        return object?.members.isEmpty ?? true ? "PayloadEmpty" : nil
    }
}
