// SPDX-License-Identifier: Apache-2.0

import Formats
import Testing
import Verification

@testable import Providers

@Suite struct `The signature of AWS` {
    /// Inputs, and the signature that botocore 1.43's `SigV4Auth` computes from them for the service `sns`.
    struct Vector: Sendable {
        let keyID: String
        let secret: String
        var token: String?
        let region: String
        let host: String
        let time: String
        let body: String
        let signature: String
    }

    static let vectors = [
        Vector(
            keyID: "AKIDEXAMPLE",
            secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
            region: "us-east-1",
            host: "sns.us-east-1.amazonaws.com",
            time: "2026-11-20T12:34:56Z",
            body: "Action=Publish&Version=2010-03-31&PhoneNumber=%2B16505550123&Message=654321+is+your+code.",
            signature: "4ccd9c35051aecb1a3892e83c3f16e3c20c7d88eb3a700b531260be464e2e96e"
        ),
        Vector(
            keyID: "AKIDEXAMPLE",
            secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
            token: "FwoGZXIvYXdzEA//token+with/odd=chars==",
            region: "eu-central-1",
            host: "sns.eu-central-1.amazonaws.com",
            time: "2024-02-29T23:59:59.999Z",
            body: "Action=Publish&Message=%C3%A9%F0%9F%94%91%0A",
            signature: "3b2ac54b56bcee998af0aa0d317412d7d0a974dead3f8458c4bfca0055aabd97"
        ),
        Vector(
            keyID: "ASIAX",
            secret: "s",
            region: "us-gov-west-1",
            host: "127.0.0.1:5000",
            time: "1999-12-31T00:00:00Z",
            body: "",
            signature: "7657ae82ae83f9bc748a49fe48ca3347b275561b97cc434005bbffe58d793d87"
        ),
        Vector(
            keyID: "AKIA2",
            secret: "secret with spaces é",
            region: "ap-south-1",
            host: "vpce-1.sns.ap-south-1.vpce.amazonaws.com:8443",
            time: "2030-01-01T01:02:03Z",
            body: "a=b&c=%25",
            signature: "5d3964b965bf5b2d0ad422534631fb08da6d50f10cdad0581eb6375daca64a06"
        ),
    ]

    @Test(arguments: vectors)
    func `is the one that botocore makes`(vector: Vector) throws {
        let accessKey = AccessKey(
            id: vector.keyID,
            secret: Secret(vector.secret),
            sessionToken: vector.token.map { Secret($0) }
        )
        let signature = SignatureV4(accessKey: accessKey, region: vector.region, service: "sns")
        let headers = [
            (name: "Host", value: vector.host), (name: "Content-Type", value: "application/x-www-form-urlencoded"),
        ]
        let time = try #require(Timestamp(rfc3339: vector.time))
        let signed = signature.signed(headers, body: vector.body, at: time)
        let values = Dictionary(signed.map { ($0.0, $0.1) }) { first, _ in first }
        let day = vector.time.prefix(10).replacing("-", with: "")
        let names = "content-type;host;x-amz-date" + (vector.token == nil ? "" : ";x-amz-security-token")
        let credential = "\(vector.keyID)/\(day)/\(vector.region)/sns/aws4_request"
        #expect(
            values["Authorization"]
                == "AWS4-HMAC-SHA256 Credential=\(credential), SignedHeaders=\(names), Signature=\(vector.signature)"
        )
        #expect(values["X-Amz-Security-Token"] == vector.token)
        #expect(values["X-Amz-Date"]?.hasPrefix("\(day)T") == true)
    }
}
