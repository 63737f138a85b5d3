// SPDX-License-Identifier: Apache-2.0

/// Finds the words that phones take for a code.
///
/// Android's User Consent looks for 4 to 10 letters and digits with at least one digit, iOS for the first group that
/// looks like a code (developers.google.com/identity/sms-retriever/user-consent/overview, checked 2026-11). So nothing
/// of the kind may stand before the code.
package enum CodeLikeWord {
    /// The first such word of a text, or nil.
    package static func first(in text: String) -> String? {
        let words = text.unicodeScalars.split { !$0.properties.isAlphabetic && $0.properties.numericType == nil }
        return words.first { word in
            (4...10).contains(word.count) && word.contains { $0.properties.numericType == .decimal }
        }.map { String($0) }
    }
}
