// SPDX-License-Identifier: Apache-2.0

/// What is done with numbers of internet telephony, which NIST SP 800-63B-4 bars from out-of-band authentication.
package enum VoIPRule: String, Sendable, Equatable {
    case allow
    case record
    case refuse
}

/// What a request must show of the app that made it.
package enum AppVerificationPolicy: Sendable, Equatable {
    /// Verification is switched off for tests: only test numbers are served.
    case off

    /// A verdict must pass where there is one, or in every request; a score below the minimum fails.
    case on(required: Bool, minimumScore: Double)
}

/// At most `count` in any span of `per`.
package struct RateLimit: Sendable, Hashable, CustomStringConvertible {
    package let count: Int
    package let per: Duration

    /// Such as `2/10s`.
    package var description: String { "\(count)/\(per.microseconds / 1_000_000)s" }

    package init(count: Int, per: Duration) {
        self.count = count
        self.per = per
    }
}

/// The sliding windows of one tenant.
package struct LimitPolicy: Sendable, Equatable {
    package var perRecipient: [RateLimit]
    package var perIP: [RateLimit]
    package var perTenant: [RateLimit]

    package init(
        perRecipient: [RateLimit] = [
            RateLimit(count: 2, per: .seconds(10)), RateLimit(count: 10, per: .seconds(3600)),
            RateLimit(count: 20, per: .seconds(86_400)),
        ],
        perIP: [RateLimit] = [
            RateLimit(count: 50, per: .seconds(60)), RateLimit(count: 500, per: .seconds(3600)),
        ],
        perTenant: [RateLimit] = [RateLimit(count: 1000, per: .seconds(60))]
    ) {
        self.perRecipient = perRecipient
        self.perIP = perIP
        self.perTenant = perTenant
    }
}

/// A number that gets a fixed code and no message.
package struct TestNumber: Sendable, Equatable {
    package let number: PhoneNumber
    package let code: String

    /// From when on the number is an ordinary one; nil for never.
    package let until: Timestamp?

    /// What goes wrong with every message to the number; nil for nothing.
    package let fault: Fault?

    /// The faults that a test number can have.
    package enum Fault: String, Sendable, CaseIterable {
        /// The provider refuses: the person has opted out.
        case optedOut = "opted_out"

        /// The provider refuses: no such number.
        case invalid

        /// The provider takes no more messages for now, however often it is asked.
        case throttled

        /// The provider takes the message after five seconds.
        case slow

        /// No provider can be reached.
        case providerDown = "provider_down"

        /// The message is taken and no receipt ever comes.
        case lostReceipt = "lost_receipt"

        /// The message is taken and its receipt comes twice.
        case duplicateReceipt = "duplicate_receipt"
    }

    package init(number: PhoneNumber, code: String, until: Timestamp?, fault: Fault? = nil) {
        self.number = number
        self.code = code
        self.until = until
        self.fault = fault
    }
}

/// The sites and apps that the last line of a text may hand its code to.
package struct AutofillPolicy: Sendable, Equatable {
    /// Exact hosts, in lower case.
    package var domains: [String]
    package var androidAppHashes: [String]

    package init(domains: [String] = [], androidAppHashes: [String] = []) {
        self.domains = domains
        self.androidAppHashes = androidAppHashes
    }
}

/// Where e-mail links may lead and how long they live.
package struct EmailLinkPolicy: Sendable, Equatable {
    package var authorizedDomains: [String]
    package var validity: Duration

    package init(authorizedDomains: [String] = [], validity: Duration = .seconds(1200)) {
        self.authorizedDomains = authorizedDomains
        self.validity = validity
    }
}
