// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc

/// Reads the text of a small file.
package enum TextFile {
    /// The reason why a file could not be read, as the end of a sentence.
    package struct Unreadable: Error {
        package let reason: String

        /// True when nothing exists at the path.
        package let isMissing: Bool

        package init(reason: String, isMissing: Bool = false) {
            self.reason = reason
            self.isMissing = isMissing
        }

        /// The reason for a system error.
        package init(code: Int32) {
            switch code {
            case ENOENT, ENOTDIR: self.init(reason: "cannot be read: there is no such file", isMissing: true)
            case EACCES: self.init(reason: "cannot be read: check the permissions of its folder")
            default: self.init(reason: "cannot be read: \(String(cString: strerror(code)))")
            }
        }
    }

    /// The byte order marks of UTF-16, the default encoding of some Windows tools.
    private static let utf16Marks: [[UInt8]] = [[0xff, 0xfe], [0xfe, 0xff]]

    /// Reads a file in UTF-8, without a byte order mark at its start.
    package static func read(_ path: String, maximumBytes: Int) throws(Unreadable) -> String {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw Unreadable(code: errno) }
        guard status.st_mode & S_IFMT != S_IFDIR else { throw Unreadable(reason: "cannot be read: it is a folder") }
        let isTooLarge = Unreadable(reason: "is larger than \(maximumBytes) bytes")
        // Checked before reading, since a running worker rereads files; a pipe has no size.
        guard status.st_size <= maximumBytes else { throw isTooLarge }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Unreadable(reason: "cannot be read: check its permissions")
        }
        guard data.count <= maximumBytes else { throw isTooLarge }
        if Self.utf16Marks.contains(Array(data.prefix(2))) {
            throw Unreadable(reason: "is UTF-16; save it as UTF-8, as with PowerShell's -Encoding utf8")
        }
        guard let text = String(validating: data, as: UTF8.self) else { throw Unreadable(reason: "is not UTF-8") }
        return text.unicodeScalars.first == "\u{feff}" ? String(text.unicodeScalars.dropFirst()) : text
    }
}
