// SPDX-License-Identifier: Apache-2.0

import Crypto
import Formats

/// Encrypts a recipient, or another text that may identify a person, with AES-GCM for storage in the database.
package enum RecipientSeal {
    /// Seals a text; the verification's id is authenticated too, so a seal opens for no other row.
    package static func seal(
        _ text: String,
        for verification: VerificationID,
        key: RingKey,
        using generator: inout some RandomNumberGenerator
    ) -> [UInt8]? {
        seal(Array(text.utf8), in: verification.uuid.bytes, key: key, using: &generator)
    }

    /// Seals bytes; they open only with the same `context`.
    ///
    /// The generator makes the nonce, so it must be cryptographically secure.
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

    /// Opens sealed bytes; nil if the key or the context differs.
    package static func open(_ sealed: [UInt8], in context: [UInt8], key: RingKey) -> [UInt8]? {
        guard let box = try? AES.GCM.SealedBox(combined: sealed) else { return nil }
        return (try? AES.GCM.open(box, using: key.symmetric, authenticating: context)).map { Array($0) }
    }

    /// Opens a sealed text; nil if the key or the verification differs.
    package static func open(_ sealed: [UInt8], for verification: VerificationID, key: RingKey) -> String? {
        open(sealed, in: verification.uuid.bytes, key: key).flatMap { String(validating: $0, as: UTF8.self) }
    }
}
