// SPDX-License-Identifier: Apache-2.0

/// An HTTP address, parsed once.
struct Target: Sendable {
    /// The key of a connection pool.
    struct Origin: Hashable, Sendable {
        let isSecure: Bool
        let host: String
        let port: Int
        let options: ConnectionOptions?

        /// The origin without its options.
        var place: Origin { Origin(isSecure: isSecure, host: host, port: port, options: nil) }
    }

    let origin: Origin

    /// Path and query, as in the request line.
    let path: String

    /// Host and port, as in the `Host` header: without the scheme's default port.
    let authority: String

    /// Parses `http` and `https` addresses; nil for any other.
    init?(_ url: String, by options: ConnectionOptions? = nil) {
        let parts = url.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let isSecure = ["http": false, "https": true][parts[0].lowercased()] else { return nil }
        let rest = parts[1].prefix { $0 != "#" }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        let path = rest.dropFirst(authority.count)
        guard !authority.contains("@"), let place = Self.place(authority, isSecure ? 443 : 80),
            url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return nil }
        origin = Origin(isSecure: isSecure, host: place.host, port: place.port, options: options)
        self.path = path.hasPrefix("/") ? String(path) : "/\(path)"
        let host = place.host.contains(":") ? "[\(place.host)]" : place.host
        self.authority = place.port == (isSecure ? 443 : 80) ? host : "\(host):\(place.port)"
    }

    /// Splits host and port; an IPv6 address is in brackets.
    private static func place(_ authority: Substring, _ defaultPort: Int) -> (host: String, port: Int)? {
        let isBracketed = authority.hasPrefix("[")
        let end = isBracketed ? authority.firstIndex(of: "]") : authority.lastIndex(of: ":") ?? authority.endIndex
        guard let end else { return nil }
        let host = isBracketed ? authority[..<end].dropFirst() : authority[..<end]
        let rest = isBracketed ? authority[end...].dropFirst() : authority[end...]
        guard !host.isEmpty, isBracketed || !host.contains(":") else { return nil }
        if rest.isEmpty { return (String(host), defaultPort) }
        guard rest.hasPrefix(":"), let port = UInt16(rest.dropFirst()), port > 0 else { return nil }
        return (String(host), Int(port))
    }
}
