// SPDX-License-Identifier: Apache-2.0

import Verification

/// A credential that never prints itself.
///
/// Descriptions, `dump` and mirrors show `<secret>`. Only `revealed` gives the text, so every use can be found.
package struct Secret: Sendable, Redacted {
    /// The credential itself, for the one place that puts it on the wire.
    package let revealed: String

    package init(_ text: String) {
        revealed = text
    }

    package var description: String { "<secret>" }
}
