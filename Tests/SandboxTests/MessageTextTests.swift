// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Sandbox

@Suite
struct MessageTextTests {
    @Test(arguments: [
        ("", ""), ("Ñandú [1]\r\n€", "Ñand? [1]\r\n€"), ("e\u{301}", "e?"), ("👋 ’", "? ?"),
    ])
    func `GSM-7 has question marks for what it lacks`(text: String, carried: String) {
        #expect(VonageSMSGateway.gsm7(text) == carried)
    }

    @Test(arguments: [
        ("482913 is your code", "482913"),
        ("1234567 is not, 654321 is", "654321"),
        ("12345", nil),
        ("Pin AB12\n@acme.example #AB12CD", "AB12CD"),
        ("111111\n@acme.example #222222", "222222"),
        ("@acme.example", nil),
        ("رمز 730156.", "730156"),
        ("", nil),
    ])
    func `the code is found in the text`(body: String, code: String?) {
        #expect(CodeFinder.code(in: body) == code)
    }
}
