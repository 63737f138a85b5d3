// SPDX-License-Identifier: Apache-2.0

import PostgresClient
import Providers
import Verification

/// How PostgreSQL is reached.
struct PostgresSettings: Sendable {
    /// One database or the shards, in the order that placement relies on: libpq URIs, which may carry passwords.
    let databases: [Secret]

    /// The file that the URIs are from, and the key that names it.
    var file: File?

    struct File: Sendable {
        let path: String
        let key: String
    }

    /// How long rows are kept after their day is over.
    var retention = Duration.seconds(24 * 3600)
}

extension PostgresSettings {
    /// Reads `postgres.retention`, and `postgres.url`, `postgres.urlFile`, `postgres.shards` or `postgres.shardsFile`.
    ///
    /// `POSTGRES_SHARDS` and the file that `shardsFile` names have the URIs with commas or line ends between them. The
    /// environment wins over the file, also with another one of the keys; `url` and `shards` in one layer are a fault.
    static func read(_ source: ConfigurationSource) -> PostgresSettings? {
        let retention = readRetention(source)
        var settings = readDatabases(source)
        if let retention { settings?.retention = retention }
        return settings
    }

    /// At least a day: so old may a request be and so long may a receipt wait, and both must find their rows.
    private static func readRetention(_ source: ConfigurationSource) -> Duration? {
        source.read(["postgres", "retention"], .duration(in: Duration.seconds(86_400)...DurationText.longest))
    }

    private static func readDatabases(_ source: ConfigurationSource) -> PostgresSettings? {
        let url = source.secret(["postgres", "url"], .phrase)
        let shards = shards(source)
        switch (url, shards) {
        case (nil, nil):
            source.reportMissing(["postgres", "url"], such: "postgresql://courier_worker@127.0.0.1/courier")
            return nil
        case (let url?, nil): return settings([url], source)
        case (nil, let shards?): return settings(shards, source)
        case (let url?, let shards?):
            switch (url.origin, shards.first?.origin) {
            case (.environment, .file): return settings([url], source)
            case (.file, .environment): return settings(shards, source)
            case (let origin, _):
                source.report(url.key, at: origin, "stands beside postgres.shards; keep one of the two")
                return nil
            }
        }
    }

    private static func settings(
        _ entries: [ConfigurationSource.SecretSetting],
        _ source: ConfigurationSource
    ) -> PostgresSettings? {
        for entry in entries where ValueRule.database.parse(entry.secret.revealed) == nil {
            source.report(entry.key, at: entry.origin, ValueRule.database.requirement)
        }
        var seen: Set<String> = []
        for entry in entries where !seen.insert(entry.secret.revealed).inserted {
            source.report(entry.key, at: entry.origin, "names the database of an earlier shard; keep one")
        }
        if let first = entries.first, entries.count > UUIDValue.maximumShards {
            source.report(first.key, at: first.origin, "must name \(UUIDValue.maximumShards) databases at most")
        }
        guard let first = entries.first else { return nil }
        let file = first.path.map { File(path: $0, key: first.key.joined(separator: ".")) }
        return PostgresSettings(databases: entries.map(\.secret), file: file)
    }

    private static func shards(_ source: ConfigurationSource) -> [ConfigurationSource.SecretSetting]? {
        let key = ["postgres", "shards"]
        let text = source.secret(key, .lines)
        switch (text?.origin, source.file.shards) {
        case (.environment, _), (_, nil):
            return text.map { text in
                split(text.secret.revealed).map {
                    .init(secret: Secret($0), key: text.key, origin: text.origin, path: text.path)
                }
            }
        case (let origin?, _?):
            let fileKey = ConfigurationSource.fileKey(of: key)
            source.report(fileKey, at: origin, "stands beside postgres.shards; keep one of the two")
            return []
        case (nil, let value?): return listed(value, key)
        }
    }

    private static func listed(_ value: YAMLValue, _ key: SettingKey) -> [ConfigurationSource.SecretSetting]? {
        if value.isEmptyList { value.fault("must name at least one database") }
        return value.list(of: "libpq URIs", .text(upTo: 4096)).map { texts in
            texts.map { .init(secret: Secret($0), key: key, origin: .file(value)) }
        }
    }

    /// The URIs of a text, on lines of their own or with commas between them.
    static func split(_ text: String) -> [String] {
        text.split(whereSeparator: \.isNewline).flatMap { splitLine($0) }
    }

    /// What libpq takes for the beginning of a URI.
    fileprivate static let schemes = ["postgresql://", "postgres://"]

    /// A comma parts two URIs only before a scheme, since one URI may name several hosts.
    private static func splitLine(_ line: Substring) -> [String] {
        var uris: [String] = []
        for part in line.split(separator: ",", omittingEmptySubsequences: false) {
            let part = part.trimmed
            if uris.isEmpty || schemes.contains(where: { part.hasPrefix($0) }) {
                uris.append(part)
            } else {
                uris[uris.count - 1] += ",\(part)"
            }
        }
        return uris
    }
}

extension ValueRule where Value == String {
    static var database: Self {
        let requirement = """
            must be a libpq URI such as postgresql://courier_worker@127.0.0.1/courier, with libpq's parameters, and with \
            @ : / % in its password written as %40 %3A %2F %25
            """
        return Self(requirement: requirement) { text in
            let scheme = PostgresSettings.schemes.first { text.hasPrefix($0) }
            guard let scheme, (scheme.utf8.count + 1...4096).contains(text.utf8.count) else { return nil }
            guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else { return nil }
            return (try? ConnectionKeywords.parse(text)).map { _ in text }
        }
    }
}
