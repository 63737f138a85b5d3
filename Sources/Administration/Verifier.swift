// SPDX-License-Identifier: Apache-2.0

import Formats
package import PostgresClient
package import Verification

/// A reference verifier, which uses only the two functions that role `courier_verifier` may execute.
package struct Verifier: Sendable {
    private let pool: PostgresPool
    private let hashKeys: KeyRing

    /// - Parameters:
    ///   - pool: connections of a role that is granted `courier_verifier`.
    ///   - hashKeys: the ring of `keys.hash`, the only keys a verifier needs.
    package init(pool: PostgresPool, hashKeys: KeyRing) {
        self.pool = pool
        self.hashKeys = hashKeys
    }

    package struct Answer: Sendable, Equatable {
        package enum Status: String, Sendable {
            case approved
            case incorrect
            case expired
            case locked
            case alreadyApproved = "already_approved"
            case notFound = "not_found"

            /// The input cannot be a code; no guess was counted.
            case notACode = "not_a_code"
        }

        package let status: Status
        package let checksLeft: Int32?
        package let subject: String?
    }

    /// The reason why a guess could not be checked.
    package enum Failure: Error, Equatable, CustomStringConvertible {
        case unknownKey(KeyID)

        package var description: String {
            switch self {
            case .unknownKey(let id): "keys.hash: key \(id) made this verification's hash and is not in the ring"
            }
        }
    }

    /// A person's input, and the verification that it is for.
    package struct Guess: Sendable {
        let verification: VerificationID
        let tenant: String
        let purpose: Purpose
        let code: String
        let digits: ClosedRange<Int>
        let recipientFingerprint: [UInt8]?

        /// `code` is a code as a person typed it, the token of a link, or the secret of a push; `digits` are the lengths
        /// that it may have.
        package init(
            _ verification: VerificationID,
            tenant: String,
            purpose: Purpose,
            code: String,
            digits: ClosedRange<Int> = TypedCode.lengths,
            recipientFingerprint: [UInt8]? = nil
        ) {
            self.verification = verification
            self.tenant = tenant
            self.purpose = purpose
            self.code = code
            self.digits = digits
            self.recipientFingerprint = recipientFingerprint
        }
    }

    /// Checks a guess; input that cannot be a code is not sent to the database, since each call there counts as a guess.
    ///
    /// Only a verification of this tenant and purpose can be approved, since the hash contains both. A verification by
    /// e-mail is approved only with the fingerprint of the address that the person gives, so that a misdirected link is
    /// useless.
    package func check(_ guess: Guess) async throws -> Answer {
        guard let code = TypedCode.read(guess.code, digits: guess.digits) else {
            return Answer(status: .notACode, checksLeft: nil, subject: nil)
        }
        let hashKeys = hashKeys
        return try await pool.withSession { session in
            let keys = try session.execute(
                Statement("SELECT key_id FROM courier.hash_key_of($1)", [.uuid(guess.verification.uuid.value)])
            )
            guard let first = keys.first else {
                return Answer(status: .notFound, checksLeft: nil, subject: nil)
            }
            let keyID = KeyID(try first.int16(0))
            guard let key = hashKeys[keyID] else { throw Failure.unknownKey(keyID) }
            let hash = VerificationCode.hash(
                secret: code,
                verification: guess.verification,
                tenant: guess.tenant,
                purpose: guess.purpose.rawValue,
                key: key
            )
            let row = try session.execute(
                Statement(
                    "SELECT status, checks_left, subject FROM courier.check_code($1, $2, $3)",
                    [.uuid(guess.verification.uuid.value), .bytes(hash), .bytes(guess.recipientFingerprint)]
                )
            ).onlyRow
            guard let status = Answer.Status(rawValue: try row.text(0)) else {
                throw PostgresError(.unexpectedResult)
            }
            return Answer(status: status, checksLeft: try row.optionalInt32(1), subject: try row.optionalText(2))
        }
    }
}
