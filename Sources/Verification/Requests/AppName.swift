// SPDX-License-Identifier: Apache-2.0

/// The name of an app as it may stand in a message: 1 to 40 Unicode scalars that no phone makes anything else of.
///
/// The name is the caller's only free text in a message that people trust. So it has nothing that `TextFlaw` knows:
/// no control character, no mark that turns the direction of what follows, no `@`, no link, and at most three digits.
package struct AppName: Sendable, Hashable, CustomStringConvertible {
    package let text: String

    package init?(_ text: String) {
        guard text.isPlain(within: 1...40), TextFlaw(of: text) == nil else { return nil }
        self.text = text
    }

    package var description: String { text }
}
