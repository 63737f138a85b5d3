// SPDX-License-Identifier: Apache-2.0

import Logging
import Logs
import PostgresClient
import SettingsReading
import Synchronization

/// Rereads `postgres.urlFile` at each new connection, so that a rotated password needs no restart.
///
/// Only the login may change: a worker has checked the database that it started with. While the file is missing or
/// half-written, the last URI stays in use, and the fault is logged once.
final class DatabaseFile: Sendable {
    private struct State {
        var uri: String
        var isRefused = false
    }

    private let file: PostgresSettings.File
    private let logger: Logger
    private let state: Mutex<State>

    init(_ file: PostgresSettings.File, uri: String, logger: Logger) {
        self.file = file
        self.logger = logger
        state = Mutex(State(uri: uri))
    }

    /// The URI in the file, or the last valid one.
    var uri: String {
        let (uri, fault) = state.withLock { state in
            do throws(Unusable) {
                state.uri = try Self.read(file.path, following: state.uri)
                state.isRefused = false
                return (state.uri, nil as Unusable?)
            } catch {
                defer { state.isRefused = true }
                return (state.uri, state.isRefused ? nil : error)
            }
        }
        if let fault {
            logger.log(
                .secretsRefused,
                [.fault: .text("\(file.key): the file \(fault.reason); the last one stays in use")]
            )
        }
        return uri
    }

    private struct Unusable: Error {
        let reason: String
    }

    private static func read(_ path: String, following last: String) throws(Unusable) -> String {
        let text: String
        do throws(TextFile.Unreadable) {
            text = try TextFile.read(path, maximumBytes: 65_536)
        } catch {
            throw Unusable(reason: error.reason)
        }
        guard let uri = ValueRule.database.parse(text.trimmed) else {
            throw Unusable(reason: "holds no libpq URI")
        }
        guard place(uri) == place(last) else { throw Unusable(reason: "names another database") }
        return uri
    }

    /// The parts of a URI that locate the database.
    private static func place(_ uri: String) -> [String?] {
        let given = try? ConnectionKeywords.parse(uri)
        return ["host", "hostaddr", "port", "dbname", "service"].map { given?[$0] }
    }
}
