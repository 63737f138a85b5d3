// SPDX-License-Identifier: Apache-2.0

/// A running fleet beside the sandbox, through which the page makes requests and answers messages.
///
/// The sandbox knows neither Kafka nor a database: who owns them implements this.
package protocol SandboxFleet: Sendable {
    /// One sentence for the page, such as the regions that the policy allows.
    var note: String { get }

    /// Publishes a request and returns its id; throws a `FleetError` when it cannot.
    func request(for recipient: FleetRecipient) async throws -> String

    /// Checks a guess as a verifier does; throws a `FleetError` when it cannot.
    func check(_ guess: FleetGuess) async throws -> FleetVerdict
}

/// The recipient of a request from the page.
package enum FleetRecipient: Sendable, Hashable {
    case phone(String)
    case email(String)
    /// A device token in hexadecimal.
    case device(String)

    /// Reads what a person typed; nil for text that cannot be a recipient.
    ///
    /// Only the workers check the number or address, so that their answer is shown.
    init?(_ typed: String) {
        let text = typed.filter { !$0.isWhitespace }
        guard (3...320).contains(text.utf8.count) else { return nil }
        if text.contains("@") {
            self = .email(text)
        } else if text.utf8.count >= 64, text.allSatisfy(\.isHexDigit) {
            self = .device(text)
        } else {
            let number = text.filter { !"-./()".contains($0) }
            guard number.hasPrefix("+"), number.count > 1 else { return nil }
            self = .phone(number)
        }
    }
}

/// A guess at a message's code, link or secret.
package struct FleetGuess: Sendable, Hashable {
    package let verificationID: String
    package let tenant: String
    package let purpose: String
    /// A code as a person typed it, a link's token, or a push's secret.
    package let secret: String
    /// The address that an e-mail went to.
    package let email: String?
}

/// A verifier's answer.
package struct FleetVerdict: Sendable, Hashable, Encodable {
    /// `approved`, or the reason why not.
    package let status: String
    package let checksLeft: Int?

    package init(status: String, checksLeft: Int?) {
        self.status = status
        self.checksLeft = checksLeft
    }
}

/// The reason why the fleet could not do what the page requested.
package struct FleetError: Error, Hashable {
    package let reason: String

    package init(_ reason: String) {
        self.reason = reason
    }
}
