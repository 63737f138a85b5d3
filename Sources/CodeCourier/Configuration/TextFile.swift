// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

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
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Unreadable(reason: "cannot be read: check its permissions")
        }
        guard data.count <= maximumBytes else { throw Unreadable(reason: "is larger than \(maximumBytes) bytes") }
        guard let text = String(validating: data, as: UTF8.self) else { throw Unreadable(reason: "is not UTF-8") }
        return text
    }
}
