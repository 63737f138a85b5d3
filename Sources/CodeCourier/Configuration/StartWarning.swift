// SPDX-License-Identifier: Apache-2.0

import KafkaClient
import Logging
import Logs

/// A doubtful setting with which a worker starts nevertheless.
enum StartWarning: Equatable, CustomStringConvertible {
    case unknownVariable(UnknownVariable)

    /// PostgreSQL is on another machine, and the URL in `key` has no `sslmode`.
    case postgresWithoutTLS(host: String, key: String)

    /// SCRAM with Kafka 4 needs a newer librdkafka than this version.
    case kafkaLibraryOld(version: String)

    var description: String {
        switch self {
        case .unknownVariable(let variable):
            "environment \(variable.name) is no setting; did you mean \(variable.nearest)?"
        case .postgresWithoutTLS(let host, let key):
            "\(key) names another machine (\(host)) and no sslmode, so TLS may be left out: add sslmode=verify-full"
        case .kafkaLibraryOld(let version):
            "SCRAM at Kafka 4 needs librdkafka 2.6.1 or newer, this is \(version): the right password is refused"
        }
    }

    func write(to logger: Logger) {
        switch self {
        case .unknownVariable(let variable):
            let fields: [LogField: LogValue] = [.variable: .text(variable.name), .nearest: .text(variable.nearest)]
            logger.log(.configurationVariableUnknown, fields)
        case .postgresWithoutTLS(let host, let key):
            logger.log(.postgresWithoutTLS, [.server: .text(host), .setting: .text(key)])
        case .kafkaLibraryOld(let version):
            logger.log(.kafkaLibraryOld, [.librdkafka: .text(version)])
        }
    }
}

extension CourierConfiguration {
    /// The warnings at the start, which `run --check` prints as well.
    func warnings(environment: [String: String]) -> [StartWarning] {
        var warnings = unknownVariables.map { StartWarning.unknownVariable($0) }
        if let host = postgres.hostWithoutTLS(environment: environment) {
            warnings.append(.postgresWithoutTLS(host: host, key: postgres.file?.key ?? "postgres.url"))
        }
        if kafka.needsNewerLibrary(than: .loaded) { warnings.append(.kafkaLibraryOld(version: librdkafkaVersion)) }
        return warnings
    }
}
