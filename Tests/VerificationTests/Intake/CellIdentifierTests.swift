// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import TestTools
import Testing
import Verification

@Suite struct CellIdentifierTests {
    @Test func `an id that names a cell keeps its version, its variant and its time`() {
        var seed = TestSeed("cell ids")
        for cell in UInt8.min ... .max {
            let id = UUIDValue.version7(at: .test, using: &seed)
            let named = id.inCell(cell)
            #expect(named.cell == cell)
            #expect(named.version7Time == .test)
            #expect(named.bytes.prefix(15) == id.bytes.prefix(15))
            #expect(named.bytes[8] >> 6 == 0b10)
        }
    }

    @Test(arguments: [0, 7, 255] as [UInt8])
    func `whatever a record comes to, its ids name the cell`(cell: UInt8) {
        let screener = Screener(policy: .test(), keys: .test, numbers: FixedNumbers(), cell: cell)
        let records: [InboundRecord] = [
            .request(id: "r1", at: .test), .request(id: "r2", purpose: "nap", at: .test), .raw("{", at: .test),
        ]
        for record in records {
            let candidate = screener.candidate(for: record, now: .test)
            let same = [candidate, candidate.at(.test), candidate.deadLetter(.unrecordable)]
            #expect(same.allSatisfy { $0.verificationID.uuid.cell == cell && $0.sendID.uuid.cell == cell })
        }
    }
}
