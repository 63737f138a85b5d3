// SPDX-License-Identifier: Apache-2.0

import Formats
import Logs
import Testing
import Verification

@testable import Courier

@Suite struct TestNumberProviderTests {
    private func answer(_ fault: TestNumber.Fault?, slowness: Duration = .zero) async throws -> ProviderAnswer {
        var generator = SystemRandomNumberGenerator()
        let message = OutboundMessage(
            sendID: SendID(.version7(at: .now, using: &generator)),
            content: .sms(TextMessage(recipient: try #require(PhoneNumber("+16505550123")), text: "")),
            validity: .seconds(600),
            callDeadline: .seconds(10),
            leaveBy: .now + .seconds(60)
        )
        return await TestNumberProvider(fault: fault, slowness: slowness).send(message)
    }

    @Test(arguments: [
        (TestNumber.Fault?.none, ProviderOutcome.accepted), (.optedOut, .optedOut), (.invalid, .refused),
        (.throttled, .throttled), (.slow, .accepted), (.providerDown, .notSent), (.lostReceipt, .accepted),
        (.duplicateReceipt, .accepted),
    ])
    func `a test number's fault is a provider's answer`(fault: TestNumber.Fault?, outcome: ProviderOutcome) async throws
    {
        let answer = try await answer(fault)
        #expect(answer.outcome == outcome)
        #expect((answer.messageID != nil) == (outcome == .accepted))
        #expect((answer.errorCode != nil) == (outcome != .accepted))
    }

    @Test func `every fault comes to a decision that sends nothing to anybody else`() async throws {
        for fault in TestNumber.Fault.allCases {
            var plan = AttemptPlan(providers: ["test"], attempts: 0)
            #expect(plan.step == .call(provider: "test"))
            let step = plan.take(.answered(try await answer(fault)), timeLeft: .seconds(300))
            switch fault {
            case .optedOut: #expect(step == .finish(.failed(.optedOut)))
            case .invalid: #expect(step == .finish(.failed(.providerRefused)))
            case .throttled, .providerDown: #expect(step == .finish(.retry(after: .seconds(1))))
            case .slow, .lostReceipt, .duplicateReceipt: #expect(step == .finish(.sent))
            }
        }
    }

    @Test func `a slow answer takes its time and no longer than a call may`() async throws {
        let start = ContinuousClock.now
        _ = try await answer(.slow, slowness: .milliseconds(50))
        #expect(ContinuousClock.now - start >= .milliseconds(50))
    }
}
