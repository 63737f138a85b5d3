// SPDX-License-Identifier: Apache-2.0

import Verification

/// Answers for test numbers as a provider would, and sends nothing.
///
/// A test number's message goes the way of every other one up to this point, so its fault shows what the same fault of
/// a real provider would come to.
struct TestNumberProvider: MessageProvider {
    static let name = "test"

    var name: String { Self.name }
    let fault: TestNumber.Fault?

    /// How long the slow one takes.
    var slowness = Duration.seconds(5)

    func send(_ message: OutboundMessage) async -> ProviderAnswer {
        switch fault {
        case .optedOut: return ProviderAnswer(.refused, errorCode: "opted_out")
        case .invalid: return ProviderAnswer(.refused, errorCode: "invalid_number")
        case .throttled: return ProviderAnswer(.throttled, errorCode: "throttled", retryAfter: .seconds(1))
        case .providerDown: return ProviderAnswer(.notSent, errorCode: "connection_refused")
        case .slow:
            // Taking long is the fault itself.
            do { try await Task.sleep(for: min(slowness, message.callDeadline)) } catch {
                return ProviderAnswer(.unknown, errorCode: "cancelled")
            }
            return ProviderAnswer(.accepted, messageID: message.sendID.description)
        case .lostReceipt, .duplicateReceipt, nil:
            return ProviderAnswer(.accepted, messageID: message.sendID.description)
        }
    }
}
