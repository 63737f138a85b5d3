// SPDX-License-Identifier: Apache-2.0

/// Where the sandbox listens, what it remembers and how fast its phones answer.
package struct SandboxConfiguration: Sendable {
    /// The address to bind; anything but loopback shows every code to the network.
    package var host: String
    /// The port to bind; 0 takes any free one, which `Sandbox.waitUntilListening()` tells.
    package var port: Int
    /// The port of the mail server; 0 takes any free one, which `Sandbox.waitUntilListeningForMail()` tells.
    package var smtpPort: Int
    /// What a mail client must authenticate with; `nil` asks nobody.
    package var smtpCredentials: SMTPCredentials?
    /// The longest silence of a mail client.
    package var smtpTimeout: Duration
    /// The password that clients of the SMS APIs must give; `nil` takes any that is not empty.
    package var authToken: String?
    /// The file that gets one JSON line per complete request, synced before the request is answered.
    package var recordFile: String?
    /// How many messages of each kind are kept, of e-mails at most 500; older ones are forgotten.
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
        self.maximumMessages = min(max(1, maximumMessages), 10_000_000)
        self.sentAfter = sentAfter
        self.deliveredAfter = deliveredAfter
        self.heartbeat = heartbeat
        self.receiptSink = receiptSink
    }

    /// Whether only programs on this machine can connect.
    var isLoopback: Bool {
        host == "localhost" || host == "::1" || host.hasPrefix("127.")
    }
}
