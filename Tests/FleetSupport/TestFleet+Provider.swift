// SPDX-License-Identifier: Apache-2.0

package import Administration
import TestSupport
import Testing
import Verification

extension TestFleet {
    /// Every complete request that the provider received, including those whose answer was lost.
    package var sent: [SentMessage] { sentLog.messages }

    /// The messages that the provider accepted, by number.
    package var messages: [String: [SentMessage]] {
        Dictionary(grouping: sent.filter(\.accepted), by: \.to)
    }

    /// Checks a code as a verifier service does.
    ///
    /// For an e-mail link, `fingerprint` is that of the address that the person enters.
    package func check(
        _ code: String,
        _ event: Event,
        fingerprint: [UInt8]? = nil
    ) async throws -> Verifier.Answer.Status {
        let verification = try #require(event.verification)
        let purpose = try #require(event.body.purpose.flatMap { Purpose(rawValue: $0) })
        let guess = Verifier.Guess(
            verification,
            tenant: event.body.tenant,
            purpose: purpose,
            code: code,
            recipientFingerprint: fingerprint
        )
        return try await Verifier(pool: verifierPool, hashKeys: CodeKeys.test.hash).check(guess).status
    }
}
