// SPDX-License-Identifier: Apache-2.0

import Formats

extension JSONValue {
    /// Parses a request's body; `nil` when it is no JSON.
    init?(body: some Collection<UInt8>) {
        guard let value = try? JSONScanner.parse(Array(body), limits: JSONLimits(maximumDepth: 64)) else { return nil }
        self = value
    }

    /// The text of a string or a whole number, as a form would carry it; `nil` for an empty string and other values.
    var text: String? {
        switch self {
        case .string(let value): value.isEmpty ? nil : value
        case .number(let value): value.double.flatMap { Int(exactly: $0) }.map { String($0) }
        default: nil
        }
    }
}
