// SPDX-License-Identifier: Apache-2.0

/// A libpq URI, parsed as far as the tests change it.
package struct DatabaseURL {
    private var credentials: Substring?
    private var authority: Substring
    private let database: Substring
    private var parameters: [Substring]

    package init(_ url: String) {
        let rest = url.split(separator: "://", maxSplits: 1).last ?? ""
        let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let place = parts[0].split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        if let at = place[0].lastIndex(of: "@") {
            credentials = place[0][..<at]
            authority = place[0][place[0].index(after: at)...]
        } else {
            authority = place[0]
        }
        database = place.count > 1 ? place[1] : ""
        parameters = parts.count > 1 ? parts[1].split(separator: "&") : []
    }

    package var name: String { String(database) }

    package var text: String {
        let user = credentials.map { "\($0)@" } ?? ""
        let query = parameters.isEmpty ? "" : "?" + parameters.joined(separator: "&")
        return "postgresql://\(user)\(authority)/\(database)\(query)"
    }

    package func with(user: String, password: String) -> DatabaseURL {
        var copy = without(["user", "password"])
        copy.credentials = "\(user):\(password)"
        return copy
    }

    /// The URL for a command line and the password for the environment, which is empty if there is none.
    package var withoutPassword: (url: DatabaseURL, password: String) {
        var copy = self
        let login = credentials?.split(separator: ":", maxSplits: 1)
        copy.credentials = login?.first
        return (copy, login?.dropFirst().first.map(String.init) ?? "")
    }

    /// The URL with a port of this machine as server, without TLS.
    package func inClearText(port: Int) -> DatabaseURL {
        var copy = without(["host", "hostaddr", "port", "sslmode", "gssencmode"])
        copy.authority = "127.0.0.1:\(port)"
        copy.parameters += ["sslmode=disable", "gssencmode=disable"]
        return copy
    }

    /// The URL with a setting for every session, such as one that a trigger reads.
    package func with(setting name: String, value: String) -> DatabaseURL {
        var copy = without(["options"])
        copy.parameters.append("options=-c%20\(name)%3D\(value)")
        return copy
    }

    private func without(_ names: Set<String>) -> DatabaseURL {
        var copy = self
        copy.parameters.removeAll { names.contains(String($0.prefix { $0 != "=" })) }
        return copy
    }
}
