// SPDX-License-Identifier: Apache-2.0

import Logging
import Logs
import PostgresClient
import Synchronization

/// The file of `postgres.urlFile`, read again at each new connection, so that a password that was rotated needs no restart.
///
/// The login may change, and no more: a worker has checked the database that it began with. A file that cannot be used at
/// that moment, missing or half-written, leaves the last URI in use, and is told once.
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

    /// The URI, as the file says now or said last.
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

    /// What a URI says of where the database is.
    private static func place(_ uri: String) -> [String?] {
        let given = try? ConnectionKeywords.parse(uri)
        return ["host", "hostaddr", "port", "dbname", "service"].map { given?[$0] }
    }
}
