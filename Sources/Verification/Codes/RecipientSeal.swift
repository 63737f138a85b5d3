// SPDX-License-Identifier: Apache-2.0

package import Crypto

/// A recipient, or another text that may name a person, under AES-GCM: how it rests in the database.
package enum RecipientSeal {
    /// Seals a text; the verification's id is authenticated with it, so a seal fits no other row.
    package static func seal(_ text: String, for verification: VerificationID, key: SymmetricKey) -> [UInt8]? {
        let box = try? AES.GCM.seal(Array(text.utf8), using: key, authenticating: verification.uuid.bytes)
        return box?.combined.map { Array($0) }
    }

    /// Opens a seal, or nil when the key or the verification is not the one it was made with.
    package static func open(_ sealed: [UInt8], for verification: VerificationID, key: SymmetricKey) -> String? {
        guard let box = try? AES.GCM.SealedBox(combined: sealed),
            let bytes = try? AES.GCM.open(box, using: key, authenticating: verification.uuid.bytes)
        else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}
