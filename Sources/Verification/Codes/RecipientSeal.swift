// SPDX-License-Identifier: Apache-2.0

import Crypto

/// A recipient, or another text that may name a person, under AES-GCM: how it rests in the database.
package enum RecipientSeal {
    /// Seals a text; the verification's id is authenticated with it, so a seal fits no other row.
    package static func seal(
        _ text: String,
        for verification: VerificationID,
        key: RingKey,
        using generator: inout some RandomNumberGenerator
    ) -> [UInt8]? {
        seal(Array(text.utf8), in: verification.uuid.bytes, key: key, using: &generator)
    }

    /// Seals bytes; they open only together with the same `context`.
    ///
    /// The nonce is the generator's, so it has to be one for secrets.
    package static func seal(
        _ bytes: [UInt8],
        in context: [UInt8],
        key: RingKey,
        using generator: inout some RandomNumberGenerator
    ) -> [UInt8]? {
        let words = [generator.next(), generator.next()]
        let random = words.withUnsafeBytes { Array($0.prefix(12)) }
        guard let nonce = try? AES.GCM.Nonce(data: random) else { return nil }
        return (try? AES.GCM.seal(bytes, using: key.symmetric, nonce: nonce, authenticating: context))?.combined.map {
            Array($0)
        }
    }

    /// Opens bytes, or nil when the key or the context is not the one they were sealed with.
    package static func open(_ sealed: [UInt8], in context: [UInt8], key: RingKey) -> [UInt8]? {
        guard let box = try? AES.GCM.SealedBox(combined: sealed) else { return nil }
        return (try? AES.GCM.open(box, using: key.symmetric, authenticating: context)).map { Array($0) }
    }

    /// Opens a seal, or nil when the key or the verification is not the one it was made with.
    package static func open(_ sealed: [UInt8], for verification: VerificationID, key: RingKey) -> String? {
        open(sealed, in: verification.uuid.bytes, key: key).flatMap { String(validating: $0, as: UTF8.self) }
    }
}
