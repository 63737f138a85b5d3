// SPDX-License-Identifier: Apache-2.0

import Testing
import Verification

/// A disposition and its expected effect on a first send whose verification had 200 s left.
struct Settled: Sendable, CustomTestStringConvertible {
    let disposition: SendDisposition
    let sendState: String
    let status: String
    let reason: String?

    /// Expected row: sends used, window open, validity left in minutes (rounded up), sequence, `send_open`.
    let verification: String

    var testDescription: String { "\(disposition)" }

    static let verification: StaticString = """
        SELECT concat_ws(' ', sends_used,
            CASE WHEN resend_after - clock_timestamp() BETWEEN interval '50 s' AND interval '60 s' THEN 'window'
                WHEN clock_timestamp() - resend_after BETWEEN interval '0 s' AND interval '5 s' THEN 'now' END,
            ceil(extract(epoch FROM expires_at - clock_timestamp()) / 60), sequence, send_open, state, status)
        FROM courier.verification
        """

    static let all = [
        Settled(.sent, "sent", "sent", nil, "1 window 10 1 f live sent"),
        Settled(
            .failed(.providerRefused),
            "failed",
            "failed",
            "provider_refused",
            "0 now 4 1 f live failed"
        ),
        Settled(
            .failed(.fraudBlocked),
            "failed",
            "failed",
            "fraud_blocked_by_provider",
            "0 now 4 1 f live failed"
        ),
        Settled(
            .failed(.providerUnavailable),
            "failed",
            "failed",
            "provider_unavailable",
            "0 now 4 1 f live failed"
        ),
        Settled(.failed(.noRoute), "failed", "failed", "no_route", "0 now 4 1 f live failed"),
        Settled(.unknown(.timeout), "unknown", "unknown", "timeout", "1 window 4 1 f live unknown"),
        Settled(.expiredUnsent, "failed", "expired_unsent", "deadline", "0 now 4 1 f live expired_unsent"),
    ]

    private init(
        _ disposition: SendDisposition,
        _ sendState: String,
        _ status: String,
        _ reason: String?,
        _ verification: String
    ) {
        self.disposition = disposition
        self.sendState = sendState
        self.status = status
        self.reason = reason
        self.verification = verification
    }
}
