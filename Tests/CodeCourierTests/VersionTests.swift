// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KafkaClient
import Providers
import Testing
import Verification

@testable import CodeCourier

@Suite struct VersionTests {
    @Test func `the version has a number and says what it was built from`() {
        #expect(Version.text.wholeMatch(of: /\d+\.\d+\.\d+ \((development build|[A-Za-z0-9]+)\)/) != nil)
    }

    @Test func `the command's version names the library in use`() {
        #expect(CodeCourier.configuration.version == "\(Version.text), librdkafka \(librdkafkaVersion)")
        #expect(librdkafkaVersion.wholeMatch(of: /\d+\.\d+\.\d+.*/) != nil)
    }

    @Test(arguments: [
        ("SCRAM-SHA-512", (2, 0, 2), true), ("SCRAM-SHA-256", (2, 6, 0), true), ("scram-sha-512", (2, 2, 0), true),
        ("SCRAM-SHA-512", (2, 6, 1), false), ("SCRAM-SHA-512", (2, 10, 0), false), ("SCRAM-SHA-512", (3, 0, 0), false),
        ("PLAIN", (2, 0, 2), false),
    ])
    func `SCRAM needs a newer library than some have`(
        mechanism: String,
        version: (Int32, Int32, Int32),
        isTooOld: Bool
    ) {
        let library = LibraryVersion(version.0, version.1, version.2)
        for name in ["sasl.mechanism", "sasl.mechanisms"] {
            let settings = KafkaSettings(options: [name: Secret(mechanism)])
            #expect(settings.needsNewerLibrary(than: library) == isTooOld)
        }
        #expect(!KafkaSettings().needsNewerLibrary(than: library))
    }
}
