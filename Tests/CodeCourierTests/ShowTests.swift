// SPDX-License-Identifier: Apache-2.0

import Testing
import Verification

@testable import CodeCourier

@Suite struct ShowTests {
    @Test(
        arguments: [
            "+4915123456789", "+49 151 23456789", "0049 (151) 234-567.89", "+49\u{A0}151/23456789", "+49 151–2345 6789",
        ]
    )
    func `a number is read as people write it`(_ text: String) {
        #expect(PhoneArgument.normalized(text) == "+4915123456789")
    }

    @Test(arguments: ["", "+", "0151 23456789", "+49 151 CALL-ME", "004", "++4915123456789", "+49151234567890123"])
    func `what is no number stays as it is, for the error of the one who reads it`(_ text: String) {
        #expect(PhoneArgument.normalized(text) == text)
        #expect(PhoneArgument.parse(text) == nil)
    }

    @Test(arguments: [
        (" ada@example.com\n", "address"), ("+49 151 23456789", "number"), ("0049 151 23456789", "number"),
        ("0193a5b0-1c40-7b11-9d22-33e44f556a66", "id"), ("signup@", "id"), ("+signup", "id"), ("4915123456789", "id"),
    ])
    func `an address, a number and an id are told apart`(text: String, kind: String) {
        let found =
            switch ShownSubject(text) {
            case .recipient(.email): "address"
            case .recipient(.phone): "number"
            case .recipient: "device"
            case .id: "id"
            }
        #expect(found == kind)
    }
}
