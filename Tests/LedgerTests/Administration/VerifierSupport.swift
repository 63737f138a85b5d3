// SPDX-License-Identifier: Apache-2.0

import Administration
import Formats
import PostgresClient
import TestSupport
import Verification

extension Verifier {
    static func test(_ pool: PostgresPool) -> Verifier {
        Verifier(pool: pool, hashKeys: CodeKeys.test.hash)
    }

    /// Checks a guess for a send's verification; the default guess is the send's own code.
    func check(
        _ send: ClaimedSend,
        code: String? = nil,
        digits: ClosedRange<Int> = TypedCode.lengths,
        tenant: String? = nil,
        purpose: Purpose? = nil
    ) async throws -> Answer {
        try await check(
            Guess(
                send.reference.verificationID,
                tenant: tenant ?? send.tenant,
                purpose: purpose ?? send.purpose,
                code: code ?? send.code.digits,
                digits: digits
            )
        )
    }
}

extension ClaimedSend {
    /// Codes of the right length that differ from the send's code.
    func wrongCodes(_ count: Int) -> [String] {
        let own = Int(code.digits) ?? 0
        return (1...count).map { step in
            let text = String((own + step) % 1_000_000)
            return String(repeating: "0", count: 6 - text.utf8.count) + text
        }
    }
}

extension Parameter {
    static func uuid(_ send: ClaimedSend) -> Parameter { .uuid(send.id.uuid.value) }

    static func verification(of send: ClaimedSend) -> Parameter { .uuid(send.reference.verificationID.uuid.value) }
}
