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
package struct RateLimit: Sendable, Hashable {
    package let count: Int
    package let per: Duration

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

    package init(number: PhoneNumber, code: String, until: Timestamp?) {
        self.number = number
        self.code = code
        self.until = until
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
