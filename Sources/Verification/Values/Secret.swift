// SPDX-License-Identifier: Apache-2.0

import Formats

/// A credential that never prints itself.
///
/// Descriptions, `dump` and mirrors show `<secret>`. Only `revealed` returns the text, so every use can be found by
/// that name.
package struct Secret: Sendable, Redacted {
    /// The credential itself, for the code that sends it.
    package let revealed: String

    package init(_ text: String) {
        revealed = text
    }

    package var description: String { "<secret>" }
}
