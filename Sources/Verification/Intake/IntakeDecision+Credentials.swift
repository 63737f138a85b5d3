// SPDX-License-Identifier: Apache-2.0

import Formats

// Credentials, their hashes, and sealed data.
extension IntakeDecision {
    /// The credential sent before, if all of it stays valid long enough and its key is known.
    ///
    /// A test number always gets a new credential, since the policy may have changed its code. A credential that the
    /// current keys derive differently is not reused either: the stored hash would reject it.
    func sameCredential(_ verification: StoredVerification, _ passed: Screening.Passed) -> Credential? {
        guard passed.testNumber == nil,
            verification.fullyValidUntil - facts.now >= passed.tenant.resend.sameCodeWhileLeft,
            let key = keys.code[verification.codeKey]
        else { return nil }
        return Credential(of: verification, key: key).flatMap { $0.mayBe(of: verification, keys) ? $0 : nil }
    }

    func newCredential(
        _ request: VerificationRequest,
        _ id: VerificationID,
        generation: Int32,
        _ passed: Screening.Passed
    ) -> Credential {
        if let testNumber = passed.testNumber { return .code(VerificationCode(fixed: testNumber.code)) }
        let credential = Credential(
            request.channel,
            verification: id,
            generation: generation,
            codeLength: passed.tenant.code.length,
            key: keys.code.active
        )
        guard let credential else { preconditionFailure("a policy has the length of its codes") }
        return credential
    }

    func shortCode(
        _ credential: Credential,
        _ id: VerificationID,
        _ request: VerificationRequest,
        _ passed: Screening.Passed
    ) -> StoredVerification.ShortCode? {
        credential.shortCode.map { code in
            .init(
                hash: hash(code.digits, id, request),
                until: facts.now + passed.tenant.shortCodeValidity(of: request)
            )
        }
    }

    /// Seals with the key of the recipient's seal, so that both become unreadable together.
    mutating func seal(_ text: String, _ verification: StoredVerification) -> [UInt8]? {
        keys.seal[verification.sealKey].flatMap {
            RecipientSeal.seal(text, for: verification.id, key: $0, using: &randomness)
        }
    }

    func hash(_ secret: String, _ id: VerificationID, _ request: VerificationRequest) -> [UInt8] {
        VerificationCode.hash(
            secret: secret,
            verification: id,
            tenant: request.tenant,
            purpose: request.purpose.rawValue,
            key: keys.hash.active
        )
    }
}
