// SPDX-License-Identifier: Apache-2.0

/// The sandbox's addresses, limits and delivery times.
package struct SandboxConfiguration: Sendable {
    /// The address to bind; any other than loopback exposes every code to the network.
    package var host: String
    /// The port to bind; 0 for any free one, which `Sandbox.waitUntilListening()` returns.
    package var port: Int
    /// The port of the mail server; 0 for any free one, which `Sandbox.waitUntilListeningForMail()` returns.
    package var smtpPort: Int
    /// The login that a mail client must use; `nil` for none.
    package var smtpCredentials: SMTPCredentials?
    /// The idle timeout of a mail client.
    package var smtpTimeout: Duration
    /// The password that clients of the SMS APIs must use; `nil` accepts any that is not empty.
    package var authToken: String?
    /// The file that gets one JSON line for each complete request, synced before the request is answered.
    package var recordFile: String?
    /// True when messages to the test recipients fail as documented.
    package var hasTestRecipients: Bool
    /// True when receipts are posted to the address that a message names for them.
    package var postsReceipts: Bool
    /// The secret that signs posted receipts; `nil` if they are not signed.
    package var signatureSecret: String?
    /// The maximum number of stored messages of each kind, of e-mails at most 500; older ones are dropped.
    package var maximumMessages: Int
    /// The time from acceptance until a message counts as `sent`.
    package var sentAfter: Duration
    /// The time from acceptance until a message counts as `delivered`.
    package var deliveredAfter: Duration
    /// The longest silence on an event stream.
    package var heartbeat: Duration
    /// Called with each receipt, one at a time and in order.
    package var receiptSink: (@Sendable (SandboxReceipt) async -> Void)?

    package init(
        host: String = "127.0.0.1",
        port: Int = 8025,
        smtpPort: Int = 0,
        smtpCredentials: SMTPCredentials? = nil,
        smtpTimeout: Duration = .seconds(300),
        authToken: String? = nil,
        recordFile: String? = nil,
        hasTestRecipients: Bool = false,
        postsReceipts: Bool = false,
        signatureSecret: String? = nil,
        maximumMessages: Int = 10_000,
        sentAfter: Duration = .milliseconds(150),
        deliveredAfter: Duration = .milliseconds(700),
        heartbeat: Duration = .seconds(15),
        receiptSink: (@Sendable (SandboxReceipt) async -> Void)? = nil
    ) {
        self.host = host
        self.port = port
        self.smtpPort = smtpPort
        self.smtpCredentials = smtpCredentials
        self.smtpTimeout = smtpTimeout
        self.authToken = authToken
        self.recordFile = recordFile
        self.hasTestRecipients = hasTestRecipients
        self.postsReceipts = postsReceipts
        self.signatureSecret = signatureSecret
        self.maximumMessages = min(max(1, maximumMessages), 10_000_000)
        self.sentAfter = sentAfter
        self.deliveredAfter = deliveredAfter
        self.heartbeat = heartbeat
        self.receiptSink = receiptSink
    }

    /// True when only programs on this machine can connect.
    var isLoopback: Bool {
        host == "localhost" || host == "::1" || host.hasPrefix("127.")
    }
}
