// SPDX-License-Identifier: Apache-2.0

import CBuild

/// The program's version.
enum Version {
    static let number = "0.1.0"

    /// The number and the commit of the build, such as `0.1.0 (3f2c1ab)`.
    static var text: String {
        let commit = String(cString: code_courier_commit())
        return "\(number) (\(commit.isEmpty ? "development build" : commit))"
    }
}
