// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// The files of the repository that the tests were built from.
package enum Repository {
    package static let root = URL(filePath: #filePath).appending(path: "../../..").standardized

    /// A file or folder by its path from the repository's root.
    package static func file(_ path: String) -> URL { root.appending(path: path) }
}
