// SPDX-License-Identifier: Apache-2.0

import PostgresClient
import Providers
import Verification

/// How PostgreSQL is reached.
struct PostgresSettings: Sendable {
    /// A libpq URI, which may carry a password.
    let url: Secret

    /// The file that the URI is from, and the key that names it.
    var file: File?

    struct File: Sendable {
        let path: String
        let key: String
    }

    /// How long rows are kept after their day is over.
    var retention = Duration.seconds(24 * 3600)
}

extension PostgresSettings {
    /// Reads `postgres.retention`, and `postgres.url` or `postgres.urlFile`.
    static func read(_ source: ConfigurationSource) -> PostgresSettings? {
        let retention = readRetention(source)
        guard let url = source.secret(["postgres", "url"], .phrase) else {
            source.reportMissing(["postgres", "url"], such: "postgresql://courier_worker@127.0.0.1/courier")
            return nil
        }
        if ValueRule.database.parse(url.secret.revealed) == nil {
            source.report(url.key, at: url.origin, ValueRule.database.requirement)
        }
        let file = url.path.map { File(path: $0, key: url.key.joined(separator: ".")) }
        var settings = PostgresSettings(url: url.secret, file: file)
        if let retention { settings.retention = retention }
        return settings
    }

    /// At least a day: so old may a request be and so long may a receipt wait, and both must find their rows.
    private static func readRetention(_ source: ConfigurationSource) -> Duration? {
        source.read(["postgres", "retention"], .duration(in: Duration.seconds(86_400)...DurationText.longest))
    }

    /// What libpq takes for the beginning of a URI.
    fileprivate static let schemes = ["postgresql://", "postgres://"]
}

extension PostgresSettings {
    /// The other machine that the URL names while nothing says whether TLS is wanted; nil where something does.
    ///
    /// libpq then takes TLS where the server offers it, from anybody, and goes on in clear text where it does not.
    func hostWithoutTLS(environment: [String: String]) -> String? {
        guard let given = try? ConnectionKeywords.parse(url.revealed), given["sslmode"] == nil,
            environment["PGSSLMODE", default: ""].isEmpty
        else { return nil }
        let hosts = (given["hostaddr"] ?? given["host"] ?? "").split(separator: ",")
        return hosts.first { !Self.isThisMachine($0) }.map(String.init)
    }

    /// True for loopback addresses and sockets, which libpq knows by their first character.
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

    /// True where an `@` stands where libpq takes it for a part of a host or of the database's name.
    ///
    /// It ends the login at the first `@` and the hosts at the first `/`: a password that has one of them unescaped is cut
    /// there, and the rest would be looked up as a host.
    private static func hasStrayAt(_ rest: Substring) -> Bool {
        let place = rest.prefix { $0 != "?" }
        guard let at = place.firstIndex(of: "@") else { return false }
        return place[..<at].contains("/") || place[place.index(after: at)...].contains("@")
    }
}
