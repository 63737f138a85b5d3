// SPDX-License-Identifier: Apache-2.0

/// Finds words that phones mistake for a code.
///
/// Android's User Consent API matches 4 to 10 letters and digits with at least one digit, iOS the first group that
/// looks like a code (developers.google.com/identity/sms-retriever/user-consent/overview, checked 2026-11). So no such
/// word may precede the code.
package enum CodeLikeWord {
    package static func first(in text: String) -> String? {
        let words = text.unicodeScalars.split { !$0.properties.isAlphabetic && $0.properties.numericType == nil }
        return words.first { word in
            (4...10).contains(word.count) && word.contains { $0.properties.numericType == .decimal }
        }.map { String($0) }
    }
}
