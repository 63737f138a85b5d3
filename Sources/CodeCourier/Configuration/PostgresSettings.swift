// SPDX-License-Identifier: Apache-2.0

import PostgresClient
import Providers
import SettingsReading
import Verification

/// Settings of PostgreSQL.
struct PostgresSettings: Sendable {
    /// A libpq URI, which may contain a password.
    let url: Secret

    /// The file that holds the URI, and the key that names it.
    var file: File?

    struct File: Sendable {
        let path: String
        let key: String
    }
}

extension PostgresSettings {
    /// Reads the database's URI, and reports other faults of the section.
    static func read(_ source: ConfigurationSource) -> PostgresSettings? {
        _ = Settings.read(source, ["postgres"])
        guard let url = source.secret(["postgres", "url"], .phrase) else {
            source.reportMissing(["postgres", "url"], such: "postgresql://courier_worker@127.0.0.1/courier")
            return nil
        }
        if ValueRule.database.parse(url.secret.revealed) == nil {
            source.report(url.key, at: url.origin, ValueRule.database.requirement)
        }
        let file = url.path.map { File(path: $0, key: url.key.joined(separator: ".")) }
        return PostgresSettings(url: url.secret, file: file)
    }

    /// The schemes that libpq accepts in a URI.
    fileprivate static let schemes = ["postgresql://", "postgres://"]
}

extension PostgresSettings {
    /// The remote host of a URL without any setting for TLS; nil for a local one and where a setting exists.
    ///
    /// libpq then uses TLS if the server offers it, without verifying the server, and falls back to clear text.
    func hostWithoutTLS(environment: [String: String]) -> String? {
        guard let given = try? ConnectionKeywords.parse(url.revealed), given["sslmode"] == nil,
            environment["PGSSLMODE", default: ""].isEmpty
        else { return nil }
        let hosts = (given["hostaddr"] ?? given["host"] ?? "").split(separator: ",")
        return hosts.first { !Self.isThisMachine($0) }.map(String.init)
    }

    /// True for loopback addresses and for sockets, which libpq recognizes by their first character.
    private static func isThisMachine(_ host: Substring) -> Bool {
        if host.hasPrefix("/") || host.hasPrefix("@") || host == "::1" || host.lowercased() == "localhost" {
            return true
        }
        return host.hasPrefix("127.") && host.allSatisfy { $0.isWholeNumber || $0 == "." }
    }
}

extension ValueRule where Value == String {
    static var database: Self {
        let requirement = """
            must be a libpq URI such as postgresql://courier_worker@127.0.0.1/courier, with libpq's parameters, and with \
            @ : / % in its password percent-encoded: written as %40 %3A %2F %25
            """
        return Self(requirement: requirement) { text in
            let scheme = PostgresSettings.schemes.first { text.hasPrefix($0) }
            guard let scheme, (scheme.utf8.count + 1...4096).contains(text.utf8.count) else { return nil }
            guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else { return nil }
            guard !hasStrayAt(text.dropFirst(scheme.count)) else { return nil }
            return (try? ConnectionKeywords.parse(text)).map { _ in text }
        }
    }

    /// True when libpq would read an `@` as a part of a host or of the database's name.
    ///
    /// It ends the login at the first `@` and the hosts at the first `/`: a password that contains one of them
    /// unescaped is cut there, and libpq would look up the rest as a host.
    private static func hasStrayAt(_ rest: Substring) -> Bool {
        let place = rest.prefix { $0 != "?" }
        guard let at = place.firstIndex(of: "@") else { return false }
        return place[..<at].contains("/") || place[place.index(after: at)...].contains("@")
    }
}
