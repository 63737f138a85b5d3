// SPDX-License-Identifier: Apache-2.0

import TestTools
import Testing

@testable import Verification

@Suite struct RequestFuzzTests {
    @Test func `no bytes trap the reading and each record has one reading`() {
        var seed = TestSeed("requests")
        let full = #"""
            {"requestId":"r","tenant":"t","channel":"sms","purpose":"sign_up","recipient":{"phoneNumber":"+16505553434"},"languageCode":"de-CH","appName":"A","client":{"ip":"::1"},"autofill":{"domain":"a.de"},"actionCode":{"url":"https://a.de/"},"requestedAt":"2026-11-20T12:34:56Z"}
            """#
        let email = #"{"requestId":"r","channel":"email","purpose":"sign_in","recipient":{"email":"a@b.de"}}"#
        let samples = [full, email, RequestSample.document()].map { Array($0.utf8) }
        var counts = [0, 0, 0]
        for _ in 0..<15_000 {
            let record = InboundRecord(
                topic: "t",
                partition: 0,
                offset: 0,
                timestamp: nil,
                key: nil,
                value: seed.mutate(samples[seed.below(samples.count)]),
                headers: []
            )
            switch VerificationRequest.read(record) {
            case .deadLetter: counts[0] += 1
            case .invalid: counts[1] += 1
            case .request(let request):
                counts[2] += 1
                #expect(!request.payloadDigestInput.isEmpty)
            }
        }
        #expect(counts.allSatisfy { $0 > 75 }, "\(counts)")
    }

    @Test(.timeLimit(.minutes(1)))
    func `the largest hostile values are read in linear time`() {
        let size = 65_000
        let values = [
            "[0." + String(repeating: "7", count: size) + "]", "[" + String(repeating: "9", count: size) + "]",
            "[" + String(repeating: "0,", count: size / 2) + "0]",
            "\"" + String(repeating: "\\n", count: size / 2) + "\"",
            "{" + (0..<6000).map { "\"\($0)\":1" }.joined(separator: ",") + "}", String(repeating: " ", count: size),
        ]
        for value in values {
            #expect(VerificationRequest.read(RequestSample.record(value)).deadLetter != nil)
        }
    }
}
