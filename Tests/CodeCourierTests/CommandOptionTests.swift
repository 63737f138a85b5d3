// SPDX-License-Identifier: Apache-2.0

import Administration
import ArgumentParser
import KafkaClient
import Testing
import Verification

@testable import CodeCourier

/// Tests the options by which commands find databases and brokers.
@Suite struct CommandOptionTests {
    @Test(arguments: ["", "courier", "host=h dbname=d", "postgresql://", "postgresql://h/a b"])
    func `a database is given as a URI`(url: String) throws {
        let options = try ConfigurationOptions.parse([])
        #expect(throws: ExitCode(2)) { try options.databaseURL(or: url) }
        let uri = "postgresql://owner@host/courier"
        #expect(try options.databaseURL(or: uri) == uri)
    }

    @Test(arguments: ["", "a b", "h:0", "[::1"])
    func `brokers are given as in the configuration`(servers: String) throws {
        let options = try KafkaOptions.parse(["--bootstrap-servers", servers])
        #expect(throws: ExitCode(2)) { try options.settings() }
        let good = try KafkaOptions.parse(["--bootstrap-servers", "a:1,[::1]:2"])
        #expect(try good.settings().bootstrapServers == "a:1,[::1]:2")
    }

    @Test func `a fault of Kafka names the key at fault`() throws {
        let option = KafkaFault(KafkaError(.invalidArgument, option: "sasl.mechanism"))
        #expect("\(option)" == "kafka.options.sasl.mechanism: is no option of librdkafka, or has a wrong value")
        let away = KafkaFault(KafkaError(.transport))
        #expect("\(away)" == "no broker answers (connection lost): check kafka.bootstrapServers")
        let missing = KafkaFault(KafkaError(.unknownTopicOrPartition).at(topic: "a"))
        let trial = "docs/deployment.md; for a trial kafka-topics.sh --create --topic a"
        #expect("\(missing)" == "no topic a (topic missing): create it (\(trial)), or check kafka.topics")
        #expect("\(KafkaFault(KafkaError(.failure), key: "kafka.options"))" == "kafka.options: KafkaError(_FAIL)")
    }

    @Test(arguments: [
        ["message", "preview", "--channel", "emial"],
        ["verify", "--verification", "019a4f6e-6f10-7b11-9d22-33e44f556a66", "--code", "1", "--purpose", "sign_inn"],
        ["request", "send", "--phone", "+16502530000", "--purpose", "sign_inn"],
    ])
    func `a mistyped choice is refused with the nearest one`(call: [String]) {
        let error = #expect(throws: (any Error).self) { try CodeCourier.parseAsRoot(call) }
        let meant = call.last == "emial" ? "email" : "sign_in"
        let text = error.map { CodeCourier.message(for: $0) } ?? ""
        #expect(text.hasSuffix("; did you mean \(meant)?"), "\(text)")
    }

    @Test func `a verifier without the key names the key alone`() {
        #expect(DatabaseFault(Verifier.Failure.unknownKey(KeyID(7))).description.hasPrefix("keys.hash: key 7 "))
    }

    @Test func `an erasure that finds nothing says so`() throws {
        let number = try #require(PhoneNumber("+16502530000"))
        let recipient = Recipient.phone(number)
        var report = Eraser.Report()
        let nothing = ErasureOutput(report: report, recipient: recipient, isRehearsal: false).lines
        #expect(nothing.first == "\(recipient.masked): nothing found")
        report.verifications = 1
        let lines = ErasureOutput(report: report, recipient: recipient, isRehearsal: false).lines
        #expect(lines.first == "\(recipient.masked): erased")
    }
}
