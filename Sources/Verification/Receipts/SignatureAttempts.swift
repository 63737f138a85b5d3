// SPDX-License-Identifier: Apache-2.0

import Crypto

/// The HMACs that are computed to check one callback's signature: few, so that a forged one is cheap.
struct SignatureAttempts {
    static let most = 16

    private(set) var count = 0

    var isOver: Bool { count >= Self.most }

    /// True where the signature is right; false, and nothing is computed, once there were too many.
    mutating func isValid(_ isRight: () -> Bool) -> Bool {
        if isOver { return false }
        count += 1
        return isRight()
    }

    mutating func isValid<Hash>(
        _ signature: [UInt8],
        of signed: [UInt8],
        _ key: SymmetricKey,
        _ code: HMAC<Hash>.Type
    ) -> Bool {
        isValid { code.isValidAuthenticationCode(signature, authenticating: signed, using: key) }
    }
}
