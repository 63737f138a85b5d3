// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc

/// The text of a small file, or why there is none.
enum TextFile {
    /// Why a file gave no text, as the end of a sentence.
    struct Unreadable: Error {
        let reason: String

        /// Whether nothing is at the path.
        let isMissing: Bool

        init(reason: String, isMissing: Bool = false) {
            self.reason = reason
            self.isMissing = isMissing
        }

        /// Why the system does not show a file.
        init(code: Int32) {
            switch code {
            case ENOENT, ENOTDIR: self.init(reason: "cannot be read: there is no such file", isMissing: true)
            case EACCES: self.init(reason: "cannot be read: check the permissions of its folder")
            default: self.init(reason: "cannot be read: \(String(cString: strerror(code)))")
            }
        }
    }

    /// The byte order marks of UTF-16, in which Windows' tools write a text that they are not told to write in another.
    private static let utf16Marks: [[UInt8]] = [[0xff, 0xfe], [0xfe, 0xff]]

    /// Reads a file in UTF-8; a byte order mark at its start is no part of the text.
    static func read(_ path: String, maximumBytes: Int) throws(Unreadable) -> String {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw Unreadable(code: errno) }
        guard status.st_mode & S_IFMT != S_IFDIR else { throw Unreadable(reason: "cannot be read: it is a folder") }
        let isTooLarge = Unreadable(reason: "is larger than \(maximumBytes) bytes")
        // Known before it is read, since a running worker reads files again; a pipe has no size.
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
