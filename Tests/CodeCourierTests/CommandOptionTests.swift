// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KafkaClient
import Testing

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
}
