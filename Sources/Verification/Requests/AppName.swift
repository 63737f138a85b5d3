// SPDX-License-Identifier: Apache-2.0

/// The name of an app as it may stand in a message: 1 to 40 Unicode scalars that no phone makes anything else of.
///
/// A request's name is the caller's only free text in a message that people trust. So it has nothing that `TextFlaw`
/// knows: no control character, no `@`, no link, and at most three digits. The operator's own name may look like that of
/// a site, such as Booking.com.
package struct AppName: Sendable, Hashable, CustomStringConvertible {
    /// The name as it was given, by which a request is told from another one with its id.
    package let given: String

    /// The name as messages show it, by `Typography`.
    package let text: String

    /// A name that a request gives.
    package init?(_ given: String) {
        self.init(given, allowing: [])
    }

    /// A name that the operator gives.
    package init?(own given: String) {
        self.init(given, allowing: [.site])
    }

    private init?(_ given: String, allowing allowed: Set<TextFlaw>) {
        let text = Typography.plain(given)
        guard text.isPlain(within: 1...40) else { return nil }
        if let flaw = TextFlaw(of: text), !allowed.contains(flaw) { return nil }
        self.given = given
        self.text = text
    }

    package var description: String { text }
}
