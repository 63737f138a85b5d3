// SPDX-License-Identifier: Apache-2.0

import Glibc
import Hummingbird
package import Logging
import NIOCore
import ServiceLifecycle

/// A local gateway for SMS, e-mail and push that shows received messages on a web page.
///
/// It implements the APIs of Twilio, Vonage, Amazon SNS and Apple, a generic one, and SMTP, so that a worker's own provider code
/// works with it unchanged. Faults can be scripted for every way in which a real gateway fails. It forwards nothing.
package final class Sandbox: Service, Sendable {
    private let configuration: SandboxConfiguration
    private let logger: Logger
    private let listening = Listening()
    private let broadcast = Broadcast()
    private let faults: FaultScript
    private let poster: CallbackPoster?
    private let slot = FleetSlot()
    private let inbox: Inbox

    package init(configuration: SandboxConfiguration = SandboxConfiguration(), logger: Logger? = nil) {
        self.configuration = configuration
        self.logger = logger ?? Logger(label: "sandbox") { _ in SwiftLogNoOpLogHandler() }
        faults = FaultScript(hasTestRecipients: configuration.hasTestRecipients)
        let signature = configuration.signatureSecret.map { CallbackSignature(secret: $0) }
        poster = configuration.postsReceipts ? CallbackPoster(signature: signature) : nil
        inbox = Inbox(configuration: configuration, broadcast: broadcast)
    }

    /// Serves until the task is cancelled or a graceful shutdown begins; runs once.
    ///
    /// Throws when the record file cannot be opened or the address cannot be bound.
    package func run() async throws {
        do {
            let record = try configuration.recordFile.map { try RecordFile(path: $0) }
            defer { record?.close() }
            try await serve(recordingTo: record)
            listening.end(with: SandboxError.stopped)
        } catch {
            listening.end(with: error)
            if error is CancellationError, Task.isCancelled { return }
            throw error
        }
    }

    /// Suspends until both sockets are bound, and returns the address of the web page and the HTTP APIs.
    ///
    /// Throws the error that prevented the start, or `SandboxError.stopped` once it has stopped.
    package func waitUntilListening() async throws -> (host: String, port: Int) {
        (configuration.host, try await listening.ports().http)
    }

    /// Suspends until both sockets are bound, and returns the address of the mail server.
    ///
    /// Throws as `waitUntilListening()` does.
    package func waitUntilListeningForMail() async throws -> (host: String, port: Int) {
        (configuration.host, try await listening.ports().smtp)
    }

    private func serve(recordingTo record: RecordFile?) async throws {
        let timeout = configuration.smtpTimeout
        let mailbox = try await SMTPServer.bind(
            host: configuration.host,
            port: configuration.smtpPort,
            timeout: timeout
        )
        let mailPort = mailbox.channel.localAddress?.port ?? configuration.smtpPort
        let mailServer = SMTPServer(
            intake: MailIntake(inbox: inbox, faults: faults, record: record),
            credentials: configuration.smtpCredentials,
            timeout: timeout
        )
        let application = Application(
            router: router(recordingTo: record, smtpPort: mailPort),
            server: .http1(configuration: .init(additionalChannelHandlers: [HangUpWatch()])),
            configuration: ApplicationConfiguration(address: .hostname(configuration.host, port: configuration.port)),
            onServerRunning: { [listening, configuration] channel in
                let port = channel.localAddress?.port ?? configuration.port
                listening.begin(Listening.Ports(http: port, smtp: mailPort))
            },
            logger: logger
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await application.run() }
            group.addTask { try await mailServer.serve(mailbox) }
            group.addTask { await self.pace() }
            if let poster { group.addTask { try await poster.run() } }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func router(recordingTo record: RecordFile?, smtpPort: Int) -> Router<SandboxContext> {
        let router = Router(context: SandboxContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: UnknownPathAnswer())
        if configuration.isLoopback { router.add(middleware: LoopbackGuard()) }
        let intake = MessageIntake(inbox: inbox, faults: faults, record: record)
        TwilioGateway(intake: intake, authToken: configuration.authToken).addRoutes(to: router)
        VonageSMSGateway(intake: intake, authToken: configuration.authToken).addRoutes(to: router)
        VonageMessagesGateway(intake: intake, authToken: configuration.authToken).addRoutes(to: router)
        GenericGateway(intake: intake, authToken: configuration.authToken).addRoutes(to: router)
        SNSGateway(intake: intake).addRoutes(to: router)
        PushGateway(inbox: inbox, faults: faults, record: record).addRoutes(to: router)
        ControlRoutes(
            inbox: inbox,
            faults: faults,
            broadcast: broadcast,
            smtpPort: smtpPort,
            slot: slot,
            poster: poster
        ).addRoutes(to: router)
        if configuration.isLoopback { FleetRoutes(inbox: inbox, slot: slot).addRoutes(to: router) }
        PageRoutes().addRoutes(to: router)
        return router
    }

    /// Advances messages to `delivered`, hands out receipts, and sends heartbeats on event streams.
    private func pace() async {
        let clock = ContinuousClock()
        var nextHeartbeat = clock.now + configuration.heartbeat
        while !Task.isCancelled {
            for receipt in await inbox.advance(to: clock.now) {
                poster?.add(receipt)
                await configuration.receiptSink?(receipt)
            }
            if clock.now >= nextHeartbeat {
                broadcast.signal()
                nextHeartbeat = clock.now + configuration.heartbeat
            }
            // Time alone sends no signal, so poll; receipts are late by at most this interval.
            do { try await clock.sleep(for: .milliseconds(20)) } catch { return }
        }
    }
}

// MARK: The view from the same process

extension Sandbox {
    /// The stored messages, oldest first.
    package func messages(to recipient: String? = nil, after sequence: Int = 0) async -> [SandboxMessage] {
        await inbox.messages(to: recipient, after: sequence)
    }

    /// The stored e-mails, oldest first.
    package func emails(to recipient: String? = nil, after sequence: Int = 0) async -> [SandboxEmail] {
        await inbox.emails(to: recipient, after: sequence)
    }

    /// The stored pushes, oldest first.
    package func pushes(to token: String? = nil, after sequence: Int = 0) async -> [SandboxPush] {
        await inbox.pushes(to: token, after: sequence)
    }

    /// The stored receipts, oldest first.
    package func receipts(after sequence: Int = 0) async -> [SandboxReceipt] {
        await inbox.receipts(after: sequence)
    }

    /// Lets the page make requests of a fleet and check guesses; without effect where other machines can connect.
    package func connect(_ fleet: any SandboxFleet) {
        if configuration.isLoopback { slot.fill(fleet) }
    }

    /// Shows a delivery event of the fleet on the page.
    package func show(_ delivery: SandboxDelivery) async {
        await inbox.acceptDelivery(delivery)
    }

    /// Removes every message, e-mail, push, receipt and delivery event; the numbering continues.
    package func clearMessages() async {
        await inbox.clear()
    }

    /// Adds a fault after those already scripted.
    ///
    /// - Parameters:
    ///   - fault: the fault.
    ///   - recipient: the phone number, address or device token that it applies to; `nil` for any.
    ///   - provider: the provider that it applies to; `nil` for any.
    ///   - times: the number of times that it applies; -1 for no limit, as a rate needs it.
    ///   - lasting: the time for which it is in force; `nil` for no limit.
    /// - Returns: the rule as the JSON API lists it.
    @discardableResult
    package func add(
        _ fault: Fault,
        to recipient: String? = nil,
        from provider: SandboxProvider? = nil,
        times: Int = 1,
        lasting: Duration? = nil
    ) -> FaultRule {
        faults.add(fault, to: recipient, from: provider, times: times, lasting: lasting)
    }

    package func clearFaults() {
        faults.clear()
    }
}

/// The reason why the sandbox does not serve.
package enum SandboxError: Error, Equatable {
    case stopped
    /// The record file cannot be opened, written or synced; the value is `errno`.
    case recordFile(Int32)

    /// The reason in words, such as "Address already in use".
    package static func explanation(of error: any Error) -> String {
        guard let system = error as? IOError else { return "\(error)" }
        return strerror(system.errnoCode).map { String(cString: $0) } ?? "errno \(system.errnoCode)"
    }
}
