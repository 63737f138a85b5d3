// SPDX-License-Identifier: Apache-2.0

import Verification

extension GatewayTemplate.Escaping {
    func applied(to text: String) -> String {
        switch self {
        case .none: return text
        case .form: return FormBody.encoded(text)
        case .json:
            var writer = JSONWriter()
            writer.element(text)
            return String(decoding: writer.bytes.dropFirst().dropLast(), as: UTF8.self)
        }
    }
}
