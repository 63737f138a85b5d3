// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A folder for one test, deleted afterwards.
package final class ScratchFolder: Sendable {
    package let path: String

    package init() throws {
        path = FileManager.default.temporaryDirectory.appending(path: "code-courier-test-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    package subscript(name: String) -> String { "\(path)/\(name)" }

    /// Writes a file atomically, and returns its path.
    @discardableResult
    package func write(_ text: String, to name: String) throws -> String {
        try Data(text.utf8).write(to: URL(filePath: self[name]), options: .atomic)
        return self[name]
    }

    /// Makes a file readable by its owner only.
    package func restrict(_ name: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: self[name])
    }

    /// A file's text; empty if the file does not exist.
    package func text(of name: String) -> String {
        String(decoding: FileManager.default.contents(atPath: self[name]) ?? Data(), as: UTF8.self)
    }

    /// A file's length in bytes; 0 if the file does not exist.
    package func size(of name: String) -> Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: self[name])
        return (attributes?[.size] as? NSNumber)?.intValue ?? 0
    }
}
