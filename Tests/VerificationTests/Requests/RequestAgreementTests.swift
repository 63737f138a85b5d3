// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import TestTools
import Testing

@testable import Verification

@Suite struct RequestAgreementTests {
    private static let table = Repository.file("schemas/kafka/examples/agreement/requests.json")

    /// Returns true when a worker calls a field of the request invalid under any policy.
    private func isFaulty(_ request: VerificationRequest) -> Bool {
        let screener = Screener(policy: .test(), keys: .test, numbers: FixedNumbers())
        guard case .refused(let refusal) = screener.screen(request) else { return false }
        return [.invalidRequest, .invalidPhoneNumber].contains(refusal.reason)
    }

    @Test func `a worker takes what the schema takes, by one table for both`() throws {
        let rows = try JSONSerialization.jsonObject(with: try Data(contentsOf: Self.table)) as? [[String: Any]] ?? []
        #expect(rows.count >= 60)
        for row in rows {
            let name = row["name"] as? String ?? "a row without a name"
            let request = try #require(row["request"], "\(name)")
            let isValid = try #require(row["valid"] as? Bool, "\(name)")
            let bytes = [UInt8](try JSONSerialization.data(withJSONObject: request, options: .fragmentsAllowed))
            let reading = VerificationRequest.read(RequestSample.record(bytes: bytes))
            let isTaken = reading.request.map { !isFaulty($0) } ?? false
            #expect(isTaken == isValid, "\(name): \(reading.invalid?.field ?? "")")
        }
    }
}
