// SPDX-License-Identifier: Apache-2.0

/// A send whose code, as derived by this worker's keys, does not match the stored hash: it must not be sent.
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
    init?(of verification: StoredVerification, key: RingKey) {
        self.init(
            verification.channel,
            verification: verification.id,
            generation: verification.generation,
            codeLength: verification.codeLength.map { Int($0) },
            key: key
        )
    }

    /// True unless a hash of the verification is known to be of another credential; an unknown hash key proves nothing.
    ///
    /// A test number's code comes from the policy and is derived from no key.
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
