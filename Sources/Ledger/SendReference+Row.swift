// SPDX-License-Identifier: Apache-2.0

import PostgresClient
import Verification

extension SendReference {
    /// Reads the first eight columns: `id, verification_id, fence, number, request_id, resend_window_ms, validity_ms,
    /// trace`.
    init(_ row: Row) throws {
        self.init(
            id: SendID(UUIDValue(try row.uuid(0))),
            verificationID: VerificationID(UUIDValue(try row.uuid(1))),
            fence: try row.int32(2),
            number: try row.int16(3),
            requestID: try row.text(4),
            resendWindow: .milliseconds(try row.int32(5)),
            validity: try row.optionalInt32(6).map { .milliseconds($0) },
            trace: try row.optionalBytes(7).flatMap { TraceContext(bytes: $0) }
        )
    }
}
