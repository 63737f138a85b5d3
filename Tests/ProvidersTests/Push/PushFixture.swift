// SPDX-License-Identifier: Apache-2.0

import Crypto
import Formats
import FoundationEssentials
import NIOConcurrencyHelpers
import TestSupport
import TestTools
import Testing
import Verification

@testable import Providers

/// The signing key of every test's team.
let pushKey = P256.Signing.PrivateKey()

func push(
    to environment: PushEnvironment = .production,
    validity: Duration = .seconds(600),
    within callDeadline: Duration = .seconds(60),
    leavingWithin maxWait: Duration = .seconds(600)
) throws -> OutboundMessage {
    let device = try #require(
        DeviceToken(
            hex: String(repeating: "00ff", count: 16),
            bundleID: "com.example.app",
            environment: environment
        )
    )
    let content = PushMessage(device: device, receipt: "receipt-1", secret: token)
    return OutboundMessage(
        sendID: SendID(try #require(UUIDValue(sendIDText))),
        content: .push(content),
        validity: validity,
        callDeadline: callDeadline,
        leaveBy: .now + maxWait
    )
}

final class PushClock: Sendable {
    private let offset = NIOLockedValueBox(Duration.zero)

    var time: Timestamp { Timestamp(milliseconds: 1_795_000_000_000) + offset.withLockedValue { $0 } }

    func advance(by duration: Duration) { offset.withLockedValue { $0 += duration } }
}

/// A provider whose team has its own key, and which trusts the test's certificate.
func pushProvider(
    _ production: PushServer,
    sandbox: PushServer? = nil,
    clock: PushClock = PushClock(),
    authorities: String? = PushAuthorities.path,
    greatestAge: Duration = .seconds(3600)
) throws -> APNsProvider {
    let configuration = APNsConfiguration(
        name: "push",
        keyID: "KEY1234567",
        teamID: "TEAM123456",
        key: try #require(APNsSigningKey(pem: Secret(pushKey.pemRepresentation))),
        baseURL: production.url,
        sandboxBaseURL: (sandbox ?? production).url,
        authorities: authorities
    )
    return APNsProvider(configuration: configuration, greatestAge: greatestAge, now: { clock.time })
}

/// The path of a file with the test's certificate.
enum PushAuthorities {
    static let path: String? = {
        let file = FileManager.default.temporaryDirectory.appending(path: "push-\(UUID().uuidString).pem")
        guard (try? Data(SelfSigned.certificate.utf8).write(to: file)) != nil else { return nil }
        return file.path
    }()
}

extension APNsProvider {
    /// Sends a push, and retries when the connection takes longer than the provider's limit of three seconds.
    ///
    /// That happens on a busy machine, and then nothing has reached the server.
    func deliver(_ push: OutboundMessage) async -> ProviderAnswer {
        for _ in 0..<4 {
            let answer = await send(push)
            if answer.errorCode != "connect_timeout" { return answer }
        }
        return await send(push)
    }
}

/// Sends one push to a scripted server, and returns the answer and the server's record.
func exchange(
    _ script: @escaping PushServer.Script,
    within callDeadline: Duration = .seconds(60)
) async throws -> (answer: ProviderAnswer, seen: PushRecord) {
    try await PushServer.with(script) { server in
        let provider = try pushProvider(server)
        var answer = await provider.deliver(try push(within: callDeadline))
        // A busy machine may also exceed the time limit of the handshake.
        if answer.errorCode == "tls_failed" { answer = await provider.deliver(try push(within: callDeadline)) }
        return (answer, server.seen)
    }
}
