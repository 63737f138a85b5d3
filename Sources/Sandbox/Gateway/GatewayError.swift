// SPDX-License-Identifier: Apache-2.0

import Hummingbird

/// An error answer in a provider's shape.
protocol GatewayError: Error {
    /// What the record file writes behind `refused_`.
    var name: String { get }

    func response(retryAfter: Int?) throws -> Response
}

extension GatewayError {
    func response() throws -> Response { try response(retryAfter: nil) }
}

extension Response {
    /// Tells the client when to come again, in seconds.
    mutating func setRetryAfter(_ seconds: Int?) {
        if let seconds { headers[.retryAfter] = String(seconds) }
    }
}
