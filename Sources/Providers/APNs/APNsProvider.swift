// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Formats
import Logs
import NIOCore
import NIOHTTP1
package import Verification

/// Sends silent pushes through Apple's push notification service: `POST /3/device/{token}` over HTTP/2.
///
/// The push wakes an app in the background and hands it the receipt and the secret in the form that Firebase's client
/// libraries read. Apple does not guarantee delivery of these pushes. A push id is no idempotency key, so a call whose
/// answer is lost is `unknown`.
package struct APNsProvider: MessageProvider {
    package var name: String { configuration.name }
    package var channel: Verification.Channel { .apns }

    private let configuration: APNsConfiguration
    private let clients: PushClients
    private let tokens: APNsTokenSource
    private let now: @Sendable () -> Timestamp

    /// Creates a provider; a test may have its own clock and maximum age of connections.
    init(
        configuration: APNsConfiguration,
        greatestAge: Duration = .seconds(3600),
        now: @escaping @Sendable () -> Timestamp = { .now }
    ) {
        self.configuration = configuration
        self.now = now
        clients = PushClients(
            authorities: configuration.authorities,
            proxy: configuration.proxy,
            greatestAge: greatestAge
        )
        tokens = APNsTokenSource(configuration, now: now)
    }

    package func send(_ message: OutboundMessage) async -> ProviderAnswer {
        guard case .push(let push) = message.content else {
            return ProviderAnswer(.misconfigured, errorCode: "channel")
        }
        let deadline = min(message.callDeadline, .seconds(3600))
        let call = Call(push: push, message: message, end: ContinuousClock.now.advanced(by: deadline))
        do {
            return try await send(call)
        } catch {
            return ProviderAnswer(.misconfigured, errorCode: "signing_failed")
        }
    }

    private struct Call {
        let push: PushMessage
        let message: OutboundMessage
        let end: ContinuousClock.Instant
    }

    /// Sends once, and retries once if Apple did not take the push because of an expired provider token, or because the
    /// device may belong to the other environment.
    private func send(_ call: Call) async throws -> ProviderAnswer {
        switch call.push.device.environment {
        case .production: return try await send(call, to: configuration.baseURL)
        case .sandbox: return try await send(call, to: configuration.sandboxBaseURL)
        case .unknown:
            let first = try await send(call, to: configuration.baseURL)
            guard first.errorCode == "BadDeviceToken" || first.isOfKeysEnvironment else { return first }
            let second = try await send(call, to: configuration.sandboxBaseURL)
            // A key for production alone cannot judge a sandbox token: the first answer stands.
            return second.isOfKeysEnvironment ? first : second
        }
    }

    private func send(_ call: Call, to baseURL: String) async throws -> ProviderAnswer {
        let token = try tokens.current()
        let answer = await post(call, to: baseURL, token: token)
        guard answer.errorCode == "ExpiredProviderToken", let fresh = try tokens.replacement(for: token) else {
            return answer
        }
        return await post(call, to: baseURL, token: fresh)
    }

    private func post(_ call: Call, to baseURL: String, token: String) async -> ProviderAnswer {
        let exchange = PushExchange(
            client: clients.current(),
            request: request(call, to: baseURL, token: token),
            body: Self.body(call.push),
            trace: call.message.trace
        )
        let result = await exchange.run(until: call.end, leavingBy: call.message.leaveBy)
        return APNsAnswer.classify(result, sendID: call.message.sendID)
    }

    private func request(_ call: Call, to baseURL: String, token: String) -> HTTPClientRequest {
        let url = "\(ProviderRequest.base(baseURL))/3/device/\(call.push.device.hex)"
        let expiration = (now() + call.message.validity).microseconds / 1_000_000
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers = [
            "Content-Type": "application/json", "Accept": "application/json", "User-Agent": "code-courier",
        ]
        request.headers.add(name: "Authorization", value: "bearer \(token)")
        request.headers.add(name: "apns-push-type", value: "background")
        // Apple rejects a background push with any other priority.
        request.headers.add(name: "apns-priority", value: "5")
        request.headers.add(name: "apns-topic", value: call.push.device.bundleID)
        request.headers.add(name: "apns-expiration", value: String(expiration))
        request.headers.add(name: "apns-id", value: call.message.sendID.description)
        return request
    }

    private static func body(_ push: PushMessage) -> ByteBuffer {
        var body = JSONWriter()
        body.object { body in
            body.object("aps") { $0.member("content-available", 1) }
            body.object("com.google.firebase.auth") { secret in
                secret.member("receipt", push.receipt)
                secret.member("secret", push.secret)
            }
        }
        return ByteBuffer(bytes: body.bytes)
    }
}

extension APNsProvider: CustomStringConvertible, CustomReflectable {
    package var description: String { "APNsProvider(\(name))" }

    /// Shows the configuration only: the client's internals change during reflection, and the tokens are secret.
    package var customMirror: Mirror { Mirror(self, children: ["configuration": configuration]) }
}

extension ProviderAnswer {
    /// True when Apple reports that the key belongs to the other environment.
    fileprivate var isOfKeysEnvironment: Bool {
        errorCode == "BadEnvironmentKeyInToken" || errorCode == "BadEnvironmentKeyIdInToken"
    }
}
