// SPDX-License-Identifier: Apache-2.0

import Formats
import Testing

@Suite struct OutageNoticeTests {
    private let start = ContinuousClock.now

    @Test func `an outage is told as it begins, every half minute, and when it is over`() {
        var notice = OutageNotice()
        #expect(!notice.isOn)
        let reportedAt = (0...100).filter { notice.failed(at: start + .seconds($0)) }
        #expect(reportedAt == [0, 30, 60, 90])
        #expect(notice.isOn)
        let ends = [notice.succeeded(), notice.succeeded()]
        #expect(ends == [true, false])
        #expect(!notice.isOn)
    }

    @Test func `the next outage is told at once`() {
        var notice = OutageNotice()
        let reportedAt = [
            notice.failed(at: start), notice.succeeded(), notice.failed(at: start + .seconds(1)),
            notice.failed(at: start + .seconds(2)),
        ]
        #expect(reportedAt == [true, true, true, false])
    }
}
