// SPDX-License-Identifier: Apache-2.0

package import Formats

/// The target of a link in an e-mail.
package struct RequestActionCode: Sendable, Hashable {
    package let url: LinkTarget?
    package let linkDomain: HostName?
    package let iosBundleID: String?

    /// An Android package name: at most 255 letters, digits, underscores and periods.
    package let androidPackageName: String?

    package let androidMinimumVersion: String?
    package let androidInstallApp: Bool?
    package let handleCodeInApp: Bool?

    init(_ fields: RequestFields) throws(RequestFault) {
        url = try fields.parsed("url") { LinkTarget($0) }
        linkDomain = try fields.parsed("linkDomain") { HostName($0) }
        iosBundleID = try fields.parsed("iosBundleId") { DeviceToken.isBundleID($0) ? $0 : nil }
        androidPackageName = try fields.parsed("androidPackageName") { Self.isPackageName($0) ? $0 : nil }
        androidMinimumVersion = try fields.text("androidMinimumVersion", within: 1...64)
        androidInstallApp = try fields.boolean("androidInstallApp")
        handleCodeInApp = try fields.boolean("handleCodeInApp")
    }

    private static func isPackageName(_ text: String) -> Bool {
        text.isASCII(within: 1...255) {
            $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: ".")
        }
    }
}

/// An absolute http or https URL of at most 2,048 ASCII characters, whose host every program parses alike.
///
/// The host decides if the link is allowed, so everything that programs parse differently is rejected: user names
/// (`https://good.example@evil.example`), backslashes, spaces, double quotes and angle brackets, IP addresses, and
/// invalid host names. `localhost` is allowed, for development.
package struct LinkTarget: Sendable, Hashable, Redacted {
    package let text: String

    /// The host in lower case.
    package let host: String

    /// Scheme, host and port in lower case.
    package let origin: String

    package init?(_ text: String) {
        guard text.isASCII(within: 1...2048, where: Self.isAllowed) else { return nil }
        let lowered = text.lowercased()
        guard let scheme = ["https://", "http://"].first(where: { lowered.hasPrefix($0) }) else { return nil }
        let authority = lowered.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let parts = authority.split(separator: ":", omittingEmptySubsequences: false)
        guard let name = parts.first, parts.count <= 2 else { return nil }
        if parts.count == 2 {
            guard parts[1].utf8.allSatisfy(\.isASCIIDigit), UInt16(parts[1]) != nil else { return nil }
        }
        guard name == "localhost" || HostName(String(name)) != nil else { return nil }
        self.text = text
        host = String(name)
        origin = scheme + authority
    }

    package var isEncrypted: Bool { origin.hasPrefix("https:") }

    /// True if the link leads to the machine that opens it.
    package var isLocal: Bool { host == "localhost" }

    package var description: String { "link to \(host)" }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        (0x21...0x7e).contains(byte) && !refused.contains(byte)
    }

    private static let refused = Set("\"<>\\^`{|}".utf8)
}

extension RequestActionCode {
    /// The fields as in a request, to be sealed: the URL may identify the person.
    package var json: String {
        var writer = JSONWriter(reserving: 256)
        writer.object { fields in
            fields.member("url", ifPresent: url?.text)
            fields.member("linkDomain", ifPresent: linkDomain?.text)
            fields.member("iosBundleId", ifPresent: iosBundleID)
            fields.member("androidPackageName", ifPresent: androidPackageName)
            fields.member("androidMinimumVersion", ifPresent: androidMinimumVersion)
            fields.member("androidInstallApp", ifPresent: androidInstallApp)
            fields.member("handleCodeInApp", ifPresent: handleCodeInApp)
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// Reads the format of `json`; nil for anything else.
    package init?(json: String) {
        guard case .object(let object)? = try? JSONScanner.parse(Array(json.utf8)),
            let actionCode = try? RequestActionCode(RequestFields(object))
        else { return nil }
        self = actionCode
    }
}
