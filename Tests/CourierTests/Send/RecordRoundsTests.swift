// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import Testing
import Verification

@testable import Courier

@Suite struct RecordRoundsTests {
    private func result(_ number: UInt128, _ disposition: SendDisposition) -> SendResult {
        SendResult(send: .test(number), disposition: disposition, attempts: 1, attempt: nil)
    }

    @Test func `what follows on a send's answer is written after it`() {
        let batch = [result(1, .sent), result(2, .sent), result(1, .delivered), result(1, .delivered)]
        let rounds = batch.rounds(by: \.send.id)
        #expect(rounds.map { $0.map(\.send.id.uuid.value) } == [[1, 2], [1], [1]])
        #expect(rounds.map { $0.map(\.disposition) } == [[.sent, .sent], [.delivered], [.delivered]])
        #expect([SendResult]().rounds(by: \.send.id).isEmpty)
    }
}
