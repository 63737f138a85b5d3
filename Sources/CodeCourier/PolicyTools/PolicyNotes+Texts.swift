// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

/// Notes about an operator's texts that force a costlier alphabet, or that phones could mistake for a code.
extension PolicyNotes {
    mutating func noteTexts(_ tenant: TenantPolicy, _ path: String) {
        noteAlphabet(of: tenant.appName, "\(path).appName")
        noteCode(in: tenant.appName, "\(path).appName", "have texts of your own with {code} before {appName}")
        note(templates: tenant.messages.templates, "\(path).messages")
        for (region, own) in tenant.messages.regions.sorted(by: { $0.key < $1.key }) {
            let key = "\(path).messages.regions.\(region)"
            // The alphabet of a signature is not checked: its brackets are outside GSM-7 anyway, and carriers demand
            // them.
            noteCode(in: own.signature, "\(key).signature", "leave out its digits")
            note(templates: own.templates, key)
        }
    }

    /// Warns about code-like words in a name or signature, which come before the code in messages.
    private mutating func noteCode(in words: String, _ key: String, _ advice: String) {
        guard let word = CodeLikeWord.first(in: words) else { return }
        warn(key, "\(word) looks like a code to phones: \(advice)")
    }

    private mutating func note(templates: [String: MessageTemplate], _ key: String) {
        for (language, template) in templates.sorted(by: { $0.key < $1.key }) {
            noteAlphabet(of: template.text { _ in "" }, "\(key).templates.\(language)")
        }
    }

    /// Names the few characters outside GSM-7 that force an otherwise GSM-7 text into UCS-2.
    private mutating func noteAlphabet(of text: String, _ key: String) {
        let letters = text.unicodeScalars.filter(\.properties.isAlphabetic)
        let costly = text.unicodeScalars.filter { !TextEncoding.hasGSM7($0) }
        guard !costly.isEmpty, letters.count(where: TextEncoding.hasGSM7) * 2 > letters.count else { return }
        let names = Set(costly).sorted().prefix(4).map(\.named).joined(separator: ", ")
        warn(key, "\(names): not in GSM-7, so a segment holds 70 characters and not 160")
    }
}

extension Unicode.Scalar {
    /// The character with its code point, such as `ł (U+0142)`.
    fileprivate var named: String {
        let digits = String(value, radix: 16, uppercase: true)
        return "\(self) (U+\(String(repeating: "0", count: max(0, 4 - digits.utf8.count)))\(digits))"
    }
}
