// SPDX-License-Identifier: Apache-2.0

import Hummingbird

/// An error answer in a provider's format.
protocol GatewayError: Error {
    /// The suffix after `refused_` in the record file.
    var name: String { get }

    func response(retryAfter: Int?) throws -> Response
}

extension GatewayError {
    func response() throws -> Response { try response(retryAfter: nil) }
}

extension Response {
    /// Sets the header `Retry-After`, in seconds.
    mutating func setRetryAfter(_ seconds: Int?) {
        if let seconds { headers[.retryAfter] = String(seconds) }
    }
}
