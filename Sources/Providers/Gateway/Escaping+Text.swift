// SPDX-License-Identifier: Apache-2.0

import Verification

extension GatewayTemplate.Escaping {
    func applied(to text: String) -> String {
        switch self {
        case .none: return text
        case .form: return FormBody.encoded(text)
        // In an address a space is %20 everywhere, and a plus in a form alone.
        case .url: return FormBody.encoded(text).replacing("+", with: "%20").replacing("*", with: "%2A")
        case .json:
            var writer = JSONWriter()
            writer.element(text)
            return String(decoding: writer.bytes.dropFirst().dropLast(), as: UTF8.self)
        }
    }
}
