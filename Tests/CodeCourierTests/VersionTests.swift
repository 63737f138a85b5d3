// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import CodeCourier

@Suite struct VersionTests {
    @Test func `the version has a number and says what it was built from`() {
        #expect(Version.text.wholeMatch(of: /\d+\.\d+\.\d+ \((development build|[A-Za-z0-9]+)\)/) != nil)
    }
}
