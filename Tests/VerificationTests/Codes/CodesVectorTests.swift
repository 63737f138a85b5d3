// SPDX-License-Identifier: Apache-2.0

import Formats
import Foundation
import TestSupport
import TestTools
import Testing

@testable import Verification

/// Test vectors by which a verifier in any language proves that it computes the same bytes.
struct CodesVectors: Decodable {
    let keys: Keys
    let joins: [Join]
    let draws: [Draw]
    let reductions: [Reduction]
    let codes: [Code]
    let links: [Secret]
    let pushSecrets: [Secret]
    let fingerprints: [Fingerprint]
    let typedCodes: [TypedText]

    struct Keys: Decodable {
        let code: [String: String]
        let hash: [String: String]
        let fingerprint: [String: String]
    }

    struct Join: Decodable {
        let fields: [String]
        let joined: String
    }

    struct Draw: Decodable {
        let codeKey: Int16
        let verificationId: String
        let generation: Int32
        let counter: UInt32
        let u: String
    }

    struct Reduction: Decodable {
        let u: String
        let digits: Int
        let code: String?
    }

    struct Code: Decodable {
        let codeKey: Int16
        let hashKey: Int16
        let verificationId: String
        let generation: Int32
        let tenant: String
        let purpose: String
        let digits: Int
        let code: String
        let codeHash: String
    }

    struct Secret: Decodable {
        let codeKey: Int16
        let hashKey: Int16
        let verificationId: String
        let generation: Int32
        let tenant: String
        let purpose: String
        let token: String
        let codeHash: String
    }

    struct Fingerprint: Decodable {
        let fingerprintKey: Int16
        let channel: String
        let recipient: String
        let canonical: String
        let fingerprint: String

        /// The recipient, parsed as in a request.
        var value: Recipient? {
            switch Channel(rawValue: channel) {
            case .sms: PhoneNumber(recipient).map { .phone($0) }
            case .email: EmailAddress(recipient).map { .email($0) }
            case .apns:
                DeviceToken(hex: recipient, bundleID: "com.example.App", environment: .production).map { .device($0) }
            case nil: nil
            }
        }
    }

    struct TypedText: Decodable {
        let typed: String
        let digits: Int?
        let code: String?
    }

    static func read() throws -> CodesVectors {
        let file = Repository.file("schemas/test-vectors.json")
        return try JSONDecoder().decode(CodesVectors.self, from: Data(contentsOf: file))
    }

    /// Builds a ring from the file's keys with one active id.
    static func ring(_ keys: [String: String], active: Int16) throws -> KeyRing {
        var entries: [(id: KeyID, bytes: [UInt8])] = []
        for (id, text) in keys {
            entries.append((KeyID(try #require(Int16(id))), Array(try #require(Data(base64Encoded: text)))))
        }
        entries.sort { first, _ in first.id == KeyID(active) }
        return try #require(KeyRing(entries))
    }
}

@Suite struct CodesVectorTests {
    private let vectors: CodesVectors

    init() throws {
        vectors = try CodesVectors.read()
    }

    @Test func `fields are joined as in the vectors`() {
        #expect(vectors.joins.count >= 7)
        for vector in vectors.joins {
            var joiner = FieldJoiner()
            for field in vector.fields { joiner.append(field) }
            #expect(hexadecimal(joiner.bytes) == vector.joined)
        }
    }

    @Test func `codes and their hashes are those of the vectors`() throws {
        #expect(vectors.codes.count >= 32)
        for vector in vectors.codes {
            let verification = VerificationID(try #require(UUIDValue(vector.verificationId)))
            let codeRing = try CodesVectors.ring(vectors.keys.code, active: vector.codeKey)
            let hashRing = try CodesVectors.ring(vectors.keys.hash, active: vector.hashKey)
            let code = VerificationCode(
                verification: verification,
                generation: vector.generation,
                length: vector.digits,
                key: codeRing.active
            )
            #expect(code.digits == vector.code)
            let hash = code.hash(
                verification: verification,
                tenant: vector.tenant,
                purpose: vector.purpose,
                key: hashRing.active
            )
            #expect(hexadecimal(hash) == vector.codeHash)
        }
    }

    @Test(arguments: [DerivedSecret.Use.link, .push])
    func `secrets and their hashes are those of the vectors`(use: DerivedSecret.Use) throws {
        let secrets = use == .link ? vectors.links : vectors.pushSecrets
        #expect(secrets.count >= 3)
        for vector in secrets {
            let verification = VerificationID(try #require(UUIDValue(vector.verificationId)))
            let key = try CodesVectors.ring(vectors.keys.code, active: vector.codeKey).active
            let secret = DerivedSecret(use, verification: verification, generation: vector.generation, key: key)
            #expect(secret.text == vector.token)
            let credential = try #require(
                Credential(
                    use == .link ? .email : .apns,
                    verification: verification,
                    generation: vector.generation,
                    codeLength: 6,
                    key: key
                )
            )
            #expect(credential.secret == vector.token)
            let hash = VerificationCode.hash(
                secret: credential.secret,
                verification: verification,
                tenant: vector.tenant,
                purpose: vector.purpose,
                key: try CodesVectors.ring(vectors.keys.hash, active: vector.hashKey).active
            )
            #expect(hexadecimal(hash) == vector.codeHash)
        }
    }

    @Test func `the random bits of a code are those of the vectors`() throws {
        #expect(vectors.draws.count >= 16)
        for vector in vectors.draws where vector.counter == 0 {
            let ring = try CodesVectors.ring(vectors.keys.code, active: vector.codeKey)
            let code = VerificationCode(
                verification: VerificationID(try #require(UUIDValue(vector.verificationId))),
                generation: vector.generation,
                length: 6,
                key: ring.active
            )
            let random = try #require(UInt64(vector.u, radix: 16))
            #expect(VerificationCode.reduce(random, length: 6) == code.digits)
        }
    }

    @Test func `random bits are reduced to codes as in the vectors`() throws {
        #expect(vectors.reductions.count >= 70)
        for vector in vectors.reductions {
            let random = try #require(UInt64(vector.u, radix: 16))
            #expect(VerificationCode.reduce(random, length: vector.digits) == vector.code, "\(vector.u)")
        }
    }

    @Test func `recipients have the canonical form and the fingerprint of the vectors`() throws {
        #expect(vectors.fingerprints.count >= 14)
        for vector in vectors.fingerprints {
            let recipient = try #require(vector.value, "\(vector.recipient)")
            let keys = CodeKeys(
                code: .test(1),
                hash: .test(2),
                fingerprint: try CodesVectors.ring(vectors.keys.fingerprint, active: vector.fingerprintKey),
                seal: .test(4)
            )
            #expect(recipient.canonical == vector.canonical)
            #expect(hexadecimal(keys.fingerprint(of: recipient)) == vector.fingerprint)
        }
    }

    @Test func `a code is read from what people type as in the vectors`() {
        #expect(vectors.typedCodes.count >= 120)
        for vector in vectors.typedCodes {
            let lengths = vector.digits.map { $0...$0 } ?? TypedCode.lengths
            #expect(TypedCode.read(vector.typed, digits: lengths) == vector.code, "\(vector.typed) \(lengths)")
        }
    }
}
