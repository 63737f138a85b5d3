// SPDX-License-Identifier: Apache-2.0

import Formats
import Foundation
import TestSupport
import TestTools
import Testing

@testable import Verification

/// Tests the secrets of links and pushes, which replace the code.
@Suite struct CodesSecretTests {
    private func secret(
        _ use: DerivedSecret.Use,
        id: UInt128 = 1,
        generation: Int32 = 1,
        key: UInt8 = 1
    ) -> DerivedSecret {
        DerivedSecret(
            use,
            verification: VerificationID(UUIDValue(id)),
            generation: generation,
            key: KeyRing.test(key).active
        )
    }

    @Test func `a secret is another one for each use, verification, generation and key`() {
        let texts = [
            secret(.link), secret(.push), secret(.link, id: 2), secret(.link, generation: 2), secret(.link, key: 2),
        ].map(\.text)
        #expect(Set(texts).count == texts.count)
        #expect(texts.allSatisfy { $0.utf8.count == 43 })
        #expect(secret(.link) == secret(.link))
    }

    @Test(arguments: Channel.allCases) func `a credential hides what it hands over`(channel: Channel) throws {
        let credential = try #require(
            Credential(
                channel,
                verification: VerificationID(UUIDValue(1)),
                generation: 1,
                codeLength: 6,
                key: KeyRing.test(1).active
            )
        )
        var dumped = ""
        dump([credential], to: &dumped)
        for text in ["\(credential)", "\([credential])", String(reflecting: credential), dumped] {
            #expect(!text.contains(credential.secret))
            #expect(!text.contains(credential.code?.digits ?? credential.secret))
        }
        #expect((credential.code == nil) == (channel == .apns))
        #expect((credential.shortCode == nil) == (channel != .email))
    }

    @Test func `a credential that has a code needs its length`() {
        func credential(_ channel: Channel) -> Credential? {
            Credential(
                channel,
                verification: VerificationID(UUIDValue(1)),
                generation: 1,
                codeLength: nil,
                key: KeyRing.test(1).active
            )
        }
        #expect(Channel.allCases.filter { credential($0) != nil } == [.apns])
    }

    @Test func `base64 is that of Foundation and reads itself back`() {
        var random = TestSeed("base64")
        for count in 0..<200 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            let text = Base64.encode(bytes)
            #expect(text == Data(bytes).base64EncodedString())
            #expect(Base64.decode(text) == bytes)
            let forURL = text.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
            #expect(Base64.encodeForURL(bytes) == forURL)
        }
    }
}
