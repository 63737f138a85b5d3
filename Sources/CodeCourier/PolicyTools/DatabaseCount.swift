// SPDX-License-Identifier: Apache-2.0

import Verification

/// How many databases share the limits per IP address and per tenant.
enum DatabaseCount: Equatable, Sendable {
    case known(Int)

    /// It is in a file with the passwords of the databases, which is not opened.
    case inFile

    /// What a policy is divided among.
    var divisor: Int {
        switch self {
        case .known(let count): count
        case .inFile: 1
        }
    }

    /// What has to be said beside limits that are shown; nil for one database.
    var note: String? {
        switch self {
        case .known(1): nil
        case .known(let count): "limits per IP and per tenant are the share that each of \(count) databases has"
        case .inFile: "limits per IP and per tenant are those of one database: postgres.shardsFile is not opened"
        }
    }
}

extension DatabaseCount {
    /// Counts the databases of a configuration as a worker chooses them: the environment wins over the file.
    ///
    /// No file of secrets is opened. A configuration that names no database counts as one with one.
    static func read(_ source: ConfigurationSource) -> DatabaseCount {
        let names = ["url", "urlFile"]
        if names.contains(where: { source.setting(["postgres", $0])?.isFromEnvironment == true }) { return .known(1) }
        if let variable = source.setting(["postgres", "shards"]) { return .known(count(inVariable: variable.text)) }
        if source.setting(["postgres", "shardsFile"]) != nil { return .inFile }
        return .known(max(1, source.file.shards?.list(of: "libpq URIs")?.count ?? 1))
    }

    /// The URIs of `POSTGRES_SHARDS`, each of which may have commas of its own.
    private static func count(inVariable text: String) -> Int {
        let name = ConfigurationSource.variableName(["postgres", "shards"])
        let source = ConfigurationSource(path: nil, environment: [name: text])
        return max(1, PostgresSettings.read(source)?.databases.count ?? 1)
    }
}

extension ConfigurationSource.Setting {
    fileprivate var isFromEnvironment: Bool {
        if case .environment = origin { true } else { false }
    }
}
