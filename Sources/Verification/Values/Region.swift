// SPDX-License-Identifier: Apache-2.0

/// A CLDR two-letter region code, `XX` if unknown; in a policy's lists also `001`.
package struct Region: Sendable, Hashable, Comparable, CustomStringConvertible {
    package static let unknown = Region(code: "XX")

    /// Numbers whose calling code belongs to no region; `001` is the code of the world in CLDR and libphonenumber.
    ///
    /// They are those of satellite networks (+881) and international ones (+882, +883). Events show them as `XX`, like
    /// all other numbers of no region.
    package static let international = Region(code: "001")

    package let code: String

    /// A region from exactly two letters `A`–`Z`, or nil.
    package init?(_ text: some StringProtocol) {
        let bytes = text.utf8
        guard bytes.count == 2, bytes.allSatisfy({ (0x41...0x5a).contains($0) }) else { return nil }
        code = String(text)
    }

    private init(code: String) {
        self.code = code
    }

    package var description: String { code }

    package static func < (left: Region, right: Region) -> Bool {
        left.code < right.code
    }
}
