// SPDX-License-Identifier: Apache-2.0

package import Formats

/// The rule for numbers of internet telephony, which NIST SP 800-63B-4 bars from out-of-band authentication.
package enum VoIPRule: String, Sendable, Equatable {
    case allow
    case record
    case refuse
}

/// The required verification of the app that sent a request.
package enum AppVerificationPolicy: Sendable, Equatable {
    /// Verification is off for tests: only test numbers are served.
    case off

    /// A verdict must pass if present, or in every request if `required`; a score below the minimum fails.
    case on(required: Bool, minimumScore: Double)
}

/// At most `count` in any span of `per`.
package struct RateLimit: Sendable, Hashable, CustomStringConvertible {
    package let count: Int
    package let per: Duration

    /// The limit as text, such as `2/10s`.
    package var description: String { "\(count)/\(per.microseconds / 1_000_000)s" }

    package init(count: Int, per: Duration) {
        self.count = count
        self.per = per
    }
}

/// The rate limits of one tenant, each a sliding window.
package struct LimitPolicy: Sendable, Equatable {
    package var perRecipient: [RateLimit]
    package var perIP: [RateLimit]
    package var perSubject: [RateLimit]
    package var perDevice: [RateLimit]
    package var perTenant: [RateLimit]

    package init(
        perRecipient: [RateLimit] = [
            RateLimit(count: 2, per: .seconds(10)), RateLimit(count: 10, per: .seconds(3600)),
            RateLimit(count: 20, per: .seconds(86_400)),
        ],
        perIP: [RateLimit] = [
            RateLimit(count: 50, per: .seconds(60)), RateLimit(count: 500, per: .seconds(3600)),
        ],
        perSubject: [RateLimit] = [],
        perDevice: [RateLimit] = [],
        perTenant: [RateLimit] = [RateLimit(count: 1000, per: .seconds(60))]
    ) {
        self.perRecipient = perRecipient
        self.perIP = perIP
        self.perSubject = perSubject
        self.perDevice = perDevice
        self.perTenant = perTenant
    }
}

/// A number that gets a fixed code and no message.
package struct TestNumber: Sendable, Equatable {
    package let number: PhoneNumber
    package let code: String

    /// The end of its use as a test number; nil for never.
    package let until: Timestamp?

    /// The fault that every message to the number simulates; nil for none.
    package let fault: Fault?

    package enum Fault: String, Sendable, CaseIterable {
        /// The provider refuses, since the person opted out.
        case optedOut = "opted_out"

        /// The provider refuses, since the number does not exist.
        case invalid

        /// The provider is throttling, also on every retry.
        case throttled

        /// The provider accepts the message after five seconds.
        case slow

        /// No provider is reachable.
        case providerDown = "provider_down"

        /// The provider accepts the message and sends no receipt.
        case lostReceipt = "lost_receipt"

        case duplicateReceipt = "duplicate_receipt"
    }

    package init(number: PhoneNumber, code: String, until: Timestamp?, fault: Fault? = nil) {
        self.number = number
        self.code = code
        self.until = until
        self.fault = fault
    }
}

/// The sites and apps that the last line of a text may name for autofill.
package struct AutofillPolicy: Sendable, Equatable {
    /// The exact hosts, in lower case.
    package var domains: [String]
    package var androidAppHashes: [String]

    package init(domains: [String] = [], androidAppHashes: [String] = []) {
        self.domains = domains
        self.androidAppHashes = androidAppHashes
    }
}

/// The allowed targets, the path and the validity of e-mail links.
package struct EmailLinkPolicy: Sendable, Equatable {
    package var authorizedDomains: [String]
    package var validity: Duration

    /// The path of each link on its host.
    package var path: String

    /// The path that Firebase Authentication uses, so that its apps can claim it.
    package static let defaultPath = "/__/auth/links"

    package init(
        authorizedDomains: [String] = [],
        validity: Duration = .seconds(1200),
        path: String = Self.defaultPath
    ) {
        self.authorizedDomains = authorizedDomains
        self.validity = validity
        self.path = path
    }
}
