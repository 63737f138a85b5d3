// SPDX-License-Identifier: Apache-2.0

import CLibpq
import Glibc

/// The keyword arrays of `PQconnectdbParams`: passed as arrays, so that no value can become syntax.
package struct ConnectionKeywords {
    /// In order: the URI, which is `dbname`, overrides what stands before it and yields to what stands after it.
    var pairs: [(keyword: String, value: String)]

    /// What must not appear in an error.
    let secrets: [String]

    /// The time that one host may take; nil for ever, as libpq reads a `connect_timeout` of zero or less.
    let timeout: Duration?

    /// True where another host or address may serve where the first one is silent.
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
        // A name may stand for several addresses; a socket's folder and an address stand for one.
        let isOne =
            hosts.isEmpty || hosts.hasPrefix("/") || hosts.allSatisfy { $0.isHexDigit || $0 == "." || $0 == ":" }
        hasSeveralHosts = hosts.contains(",") || !isOne
        secrets = [given["password"], password].compactMap(\.self).filter { !$0.isEmpty }
    }

    /// What a URI says, by keyword.
    ///
    /// libpq's text on a bad URI quotes parts of it, the password among them: it is not kept.
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

    /// Lends the two arrays as C wants them, each ended by nil.
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

    /// Whether what a line quotes is a host, a user or a database.
    ///
    /// A password with an `@` or a `/` that is not escaped is cut there by libpq, which takes a piece for a host or a port
    /// and quotes it when it cannot be one.
    private static func mayQuote(_ line: String) -> Bool {
        !line.contains("@") && hostPrefixes.contains { line.hasPrefix($0) }
    }

    /// How a line begins that says why one host did not serve.
    private static let hostPrefixes = ["connection to server ", "could not translate host "]

    /// libpq's text without secrets and control characters: its first line, and the first one of each further host, at most
    /// 200 characters of each.
    func sanitized(_ message: String) -> String {
        let lines = message.split(whereSeparator: \.isNewline).map(String.init)
        let others = lines.dropFirst().filter { line in Self.hostPrefixes.contains { line.hasPrefix($0) } }
        let causes = [lines.first ?? "no reason given"] + others.prefix(Self.mostHosts - 1)
        return causes.map(sanitizedLine).joined(separator: "; ")
    }

    /// Causes of more hosts than this would fill a log line.
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
