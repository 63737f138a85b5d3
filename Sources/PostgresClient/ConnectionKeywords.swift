// SPDX-License-Identifier: Apache-2.0

import CLibpq
import Glibc

/// The keyword arrays of `PQconnectdbParams`: passed as arrays, so that no value is parsed as syntax.
package struct ConnectionKeywords {
    /// In order: libpq lets a later value override an earlier one; the values of the URI count at `dbname`.
    var pairs: [(keyword: String, value: String)]

    /// Values that must not appear in an error.
    let secrets: [String]

    /// The timeout for one host; nil for none, as libpq treats a `connect_timeout` of zero or less.
    let timeout: Duration?

    /// True when another host or address can be tried if the first one is silent.
    let hasSeveralHosts: Bool

    init(_ configuration: PostgresConfiguration) throws(PostgresError) {
        let url = configuration.newestURL?() ?? configuration.url
        let given = try Self.parse(url)
        let password = configuration.password()
        let seconds = (Int64(configuration.connectTimeout.wholeMilliseconds) + 999) / 1000
        var pairs = [
            (keyword: "application_name", value: configuration.applicationName),
            (keyword: "connect_timeout", value: String(max(2, seconds))),
            (keyword: "tcp_user_timeout", value: "10000"),
            (keyword: "keepalives", value: "1"),
            (keyword: "keepalives_idle", value: "30"),
            (keyword: "keepalives_interval", value: "5"),
            (keyword: "keepalives_count", value: "3"),
            (keyword: "dbname", value: url),
            (keyword: "client_encoding", value: "UTF8"),
        ]
        let options = [configuration.serverOptions, given["options"] ?? "", configuration.lastServerOption]
            .filter { !$0.isEmpty }
        pairs.append((keyword: "options", value: options.joined(separator: " ")))
        if let password { pairs.append((keyword: "password", value: password)) }
        self.pairs = pairs
        let limit = given["connect_timeout"].flatMap { Int64($0) } ?? seconds
        timeout = limit > 0 ? .seconds(max(2, limit)) : nil
        let hosts = given["hostaddr"] ?? given["host"] ?? ""
        // A host name may have several addresses; a socket directory and an address count as one.
        let isOne =
            hosts.isEmpty || hosts.hasPrefix("/") || hosts.allSatisfy { $0.isHexDigit || $0 == "." || $0 == ":" }
        hasSeveralHosts = hosts.contains(",") || !isOne
        secrets = [given["password"], password].compactMap(\.self).filter { !$0.isEmpty }
    }

    /// Parses a URI into values by keyword.
    ///
    /// libpq's error text is dropped: it quotes parts of a bad URI, which may include the password.
    package static func parse(_ url: String) throws(PostgresError) -> [String: String] {
        guard let options = unsafe PQconninfoParse(url, nil) else {
            let advice = "look at its parameters, and write @ : / % in its password as %40 %3A %2F %25"
            throw PostgresError(
                .connectionFailed,
                reason: "the URL is not a PostgreSQL connection URI; \(advice)"
            )
        }
        // SAFETY: the array ends with a nil keyword and is ours until PQconninfoFree.
        defer { unsafe PQconninfoFree(options) }
        var result: [String: String] = [:]
        var option = unsafe options
        while let keyword = unsafe option.pointee.keyword {
            if let value = unsafe option.pointee.val {
                unsafe result[String(cString: keyword)] = unsafe String(cString: value)
            }
            unsafe option += 1
        }
        return result
    }

    /// Passes the two arrays as C strings, each ended by nil.
    func withArrays<Result>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<UnsafePointer<CChar>?>) -> Result
    ) -> Result {
        let keywords = unsafe pairs.map { unsafe UnsafePointer(strdup($0.keyword)) } + [nil]
        let values = unsafe pairs.map { unsafe UnsafePointer(strdup($0.value)) } + [nil]
        defer {
            for index in pairs.indices {
                unsafe free(UnsafeMutablePointer(mutating: keywords[index]))
                unsafe free(UnsafeMutablePointer(mutating: values[index]))
            }
        }
        return unsafe body(keywords, values)
    }

    /// True when the quoted text in a line can only be a host, a user or a database.
    ///
    /// If a password has an unescaped `@` or `/`, libpq splits it there. It reads one part as a host or port, and
    /// quotes that part when it is invalid.
    private static func mayQuote(_ line: String) -> Bool {
        !line.contains("@") && hostPrefixes.contains { line.hasPrefix($0) }
    }

    /// Prefixes of the lines in which libpq reports why one host failed.
    private static let hostPrefixes = ["connection to server ", "could not translate host "]

    /// Removes secrets and control characters from libpq's text.
    ///
    /// Keeps the first line, and the first one for each further host, at most 200 characters of each.
    func sanitized(_ message: String) -> String {
        let lines = message.split(whereSeparator: \.isNewline).map(String.init)
        let others = lines.dropFirst().filter { line in Self.hostPrefixes.contains { line.hasPrefix($0) } }
        let causes = [lines.first ?? "no reason given"] + others.prefix(Self.mostHosts - 1)
        return causes.map(sanitizedLine).joined(separator: "; ")
    }

    /// Maximum of hosts whose causes are kept, so that a log line stays readable.
    private static let mostHosts = 8

    private func sanitizedLine(_ text: String) -> String {
        var line = text
        for secret in secrets {
            line = line.split(separator: secret, omittingEmptySubsequences: false).joined(separator: "******")
        }
        if !Self.mayQuote(line) {
            line = line.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
                .map { $0.offset.isMultiple(of: 2) ? $0.element : "…" }.joined(separator: "\"")
        }
        let printable = line.unicodeScalars.filter { $0.properties.generalCategory != .control }
        return String(String.UnicodeScalarView(printable).prefix(200))
    }
}
