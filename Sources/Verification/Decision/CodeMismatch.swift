// SPDX-License-Identifier: Apache-2.0

/// A send whose code, as this worker's keys derive it, is not the one whose hash is stored: it must not leave.
package struct CodeMismatch: Sendable, Equatable {
    package let send: SendReference
    package let codeKey: KeyID
    package let hashKey: KeyID

    package init(send: SendReference, codeKey: KeyID, hashKey: KeyID) {
        self.send = send
        self.codeKey = codeKey
        self.hashKey = hashKey
    }
}

extension Credential {
    /// Derives the credential that a verification has now.
    init?(of verification: StoredVerification, key: RingKey) {
        self.init(
            verification.channel,
            verification: verification.id,
            generation: verification.generation,
            codeLength: verification.codeLength.map { Int($0) },
            key: key
        )
    }

    /// Whether the hashes of a verification are of this credential, as far as their key is still known.
    ///
    /// A test number's code is the policy's, and nothing is derived for it.
    func mayBe(of verification: StoredVerification, _ keys: CodeKeys) -> Bool {
        guard !verification.isFictional, let key = keys.hash[verification.hashKey] else { return true }
        let pairs = [(secret, verification.codeHash as [UInt8]?), (shortCode?.digits, verification.shortCode?.hash)]
        return pairs.allSatisfy { secret, stored in
            guard let secret, let stored else { return true }
            let hash = VerificationCode.hash(
                secret: secret,
                verification: verification.id,
                tenant: verification.tenant,
                purpose: verification.purpose.rawValue,
                key: key
            )
            return hash.equalsInConstantTime(stored)
        }
    }
}
