// SPDX-License-Identifier: Apache-2.0

package import Crypto

/// The number of signatures computed to check one callback: limited, so that a forged one costs little.
package struct SignatureAttempts {
    static let most = 16

    private(set) var count = 0

    package var isOver: Bool { count >= Self.most }

    /// True if the signature is valid; false without a computation once the limit is reached.
    package mutating func isValid(_ isRight: () -> Bool) -> Bool {
        if isOver { return false }
        count += 1
        return isRight()
    }

    package mutating func isValid<Hash>(
        _ signature: [UInt8],
        of signed: [UInt8],
        _ key: SymmetricKey,
        _ code: HMAC<Hash>.Type
    ) -> Bool {
        isValid { code.isValidAuthenticationCode(signature, authenticating: signed, using: key) }
    }
}
