// SPDX-License-Identifier: Apache-2.0

/// The name of an app as it may appear in a message: 1 to 40 Unicode scalars that phones do not reinterpret.
///
/// A request's name is the caller's only free text in a message that people trust. So it must have no `TextFlaw`: no
/// control character, no `@`, no link, and at most three digits. The operator's own name may look like a site's, such
/// as Booking.com.
package struct AppName: Sendable, Hashable, CustomStringConvertible {
    /// The name as received, which is part of the payload's digest.
    package let given: String

    /// The name as messages show it, by `Typography`.
    package let text: String

    /// A name from a request.
    package init?(_ given: String) {
        self.init(given, allowing: [])
    }

    /// A name from the operator's policy.
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
