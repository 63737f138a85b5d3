// SPDX-License-Identifier: Apache-2.0

import Formats
import TestTools
import Verification

extension TestFleet {
    /// Changes the configuration of workers that start later.
    package func configure(_ text: String, _ replacement: String) throws {
        let file = folder.text(of: Self.configurationFile)
        try folder.write(file.replacing(text, with: replacement), to: Self.configurationFile)
    }

    /// Sets a librdkafka option for workers that start later, which no environment variable can.
    package func setKafkaOption(_ name: String, _ value: String) throws {
        let options = "options: {"
        try configure(options, "\(options) \(name): \(value),")
    }

    /// Adds a copy of the first provider for workers that start later; a route must name it to use it.
    package func addProvider(_ name: String) throws {
        let file = folder.text(of: Self.configurationFile)
        guard let start = file.firstRange(of: "providers:\n")?.upperBound,
            let end = file.firstRange(of: "keys:\n")?.lowerBound
        else { preconditionFailure("a fleet's configuration has providers and then keys") }
        let second = file[start..<end].replacing("name: main", with: "name: \(name)")
        try configure("keys:\n", "\(second)keys:\n")
    }

    /// The initial configuration of a fleet.
    func configuration(provider: (host: String, port: Int), sessionTimeout: Duration) -> String {
        """
        kafka:
          bootstrapServers: "\(cluster.bootstrapServers)"
          groupId: \(topics.requests).group
          topics:
            requests: \(topics.requests)
            receipts: \(topics.receipts)
            deliveries: \(topics.deliveries)
            deadLetters: \(topics.deadLetters)
          options: { session.timeout.ms: \(sessionTimeout.microseconds / 1000), heartbeat.interval.ms: 250 }
        postgres: { url: "\(logins.workerURL)" }
        policy: { path: \(Self.policyFile) }
        providers:
          - name: main
            kind: twilio
            baseURL: "http://\(provider.host):\(provider.port)"
            accountSid: ACtest
            authToken: test-token
            from: "+15005550006"
        keys:
          code: "\(TestKeys.code)"
          hash: "\(TestKeys.hash)"
          fingerprint: "\(TestKeys.fingerprint)"
          seal: "\(TestKeys.seal)"
        """
    }
}
