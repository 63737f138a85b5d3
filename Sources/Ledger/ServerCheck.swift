// SPDX-License-Identifier: Apache-2.0

package import PostgresClient

/// The facts of a server and a database that decide whether a ledger can live there.
package struct ServerFacts: Sendable {
    /// Such as 150004 for 15.4.
    package let version: Int32
    package let encoding: String
    package let isStandby: Bool

    /// The place of the setting that makes every transaction read-only, as `pg_settings.source` names it; nil without one.
    package let readOnlySource: String?

    package init(version: Int32, encoding: String, isStandby: Bool = false, readOnlySource: String? = nil) {
        self.version = version
        self.encoding = encoding
        self.isStandby = isStandby
        self.readOnlySource = readOnlySource
    }

    /// The first reason against the server, nil when it fits.
    package var unfitness: ServerCheck.Unfit? {
        if version < ServerCheck.oldestVersion { return .tooOld(version: version) }
        if encoding != "UTF8" { return .encoding(encoding) }
        if isStandby { return .standby }
        return readOnlySource.map { .readOnly(source: $0) }
    }
}

/// Whether a server can hold a ledger at all: asked at the start of a worker and before a migration.
///
/// What is wrong there stays wrong however often a statement is tried again, so it is said once, in words.
package enum ServerCheck {
    /// The oldest version that has all that the migrations use, as the server counts.
    package static let oldestVersion: Int32 = 140_000

    package enum Unfit: Error, Equatable, CustomStringConvertible {
        case tooOld(version: Int32)
        case encoding(String)
        case standby
        case readOnly(source: String)

        package var description: String {
            switch self {
            case .tooOld(let version):
                "the server is PostgreSQL \(version / 10_000), which is too old: use PostgreSQL 14 or newer"
            case .encoding(let name):
                """
                the database's encoding is \(name), which does not store every text: \
                make another by CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0
                """
            case .standby:
                """
                the server is a standby, which accepts no writes: name the primary, \
                or all hosts and target_session_attrs=read-write
                """
            case .readOnly(let source):
                """
                the database accepts no writes: default_transaction_read_only is on (source: \(source)): \
                find out why, as a full disk, and turn it off
                """
            }
        }
    }

    /// Throws `Unfit`, or the database's error.
    ///
    /// The connection has none of the ledger's settings: an old server would refuse it for those that it does not know.
    package static func run(_ configuration: PostgresConfiguration) async throws {
        var bare = configuration
        bare.settings = []
        let connection = PostgresConnection(bare)
        let result: Result<ServerFacts, any Error>
        do {
            result = .success(try await connection.run { session in try facts(session) })
        } catch {
            result = .failure(error)
        }
        await connection.close()
        if let unfit = try result.get().unfitness { throw unfit }
    }

    private static func facts(_ session: Session) throws -> ServerFacts {
        let row = try session.execute(
            Statement(
                """
                SELECT current_setting('server_version_num')::int4, current_setting('server_encoding'),
                    pg_is_in_recovery(),
                    (SELECT s.source FROM pg_settings s
                     WHERE s.name = 'default_transaction_read_only' AND current_setting('transaction_read_only') = 'on')
                """
            )
        ).onlyRow
        return ServerFacts(
            version: try row.int32(0),
            encoding: try row.text(1),
            isStandby: try row.bool(2),
            readOnlySource: try row.optionalText(3)
        )
    }
}
