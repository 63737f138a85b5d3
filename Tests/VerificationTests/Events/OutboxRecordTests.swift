// SPDX-License-Identifier: Apache-2.0

import Formats
import Testing
import Verification

@Suite struct OutboxRecordTests {
    @Test func `a record's size is that of its key, its value and its headers`() {
        let record = OutboxRecord(
            stream: UUIDValue(1),
            sequence: 1,
            isDeadLetter: true,
            key: [1, 2, 3],
            value: [4, 5],
            headers: [RecordField("name", "value")]
        )
        #expect(record.size == 3 + 2 + RecordField("name", "value").size)
    }
}
