// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc

/// The text of a small file, or why there is none.
enum TextFile {
    /// Why a file gave no text, as the end of a sentence.
    struct Unreadable: Error {
        let reason: String
    }

    static func read(_ path: String, maximumBytes: Int) throws(Unreadable) -> String {
        var isDirectory = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
            throw Unreadable(reason: "cannot be read: there is no such file")
        }
        guard !isDirectory else { throw Unreadable(reason: "cannot be read: it is a folder") }
        // Known before it is read: a running worker reads files again.
        guard size(of: path) <= maximumBytes else { throw Unreadable(reason: "is larger than \(maximumBytes) bytes") }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Unreadable(reason: "cannot be read: check its permissions")
        }
        guard data.count <= maximumBytes else { throw Unreadable(reason: "is larger than \(maximumBytes) bytes") }
        guard let text = String(validating: data, as: UTF8.self) else { throw Unreadable(reason: "is not UTF-8") }
        return text
    }

    /// The size of a file in bytes; 0 for what has none, such as a pipe.
    private static func size(of path: String) -> Int {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? Int(status.st_size) : 0
    }
}
