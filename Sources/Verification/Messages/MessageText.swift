// SPDX-License-Identifier: Apache-2.0

/// How much of a text is left when the whole does not fit one segment.
package enum MessageForm: String, Sendable, CaseIterable {
    /// The operator's own text, which is never changed.
    case own

    /// The built-in text.
    case full

    /// The built-in text without the sentence that tells how long the code is valid.
    case withoutMinutes = "without minutes"

    /// The app's name and the code.
    case nameAndCode = "name and code"
}

/// The text of one SMS.
///
/// It describes itself without the text, which holds the code.
package struct MessageText: Sendable, Redacted {
    package let text: String

    /// The language of the text, which the request's may have fallen back to.
    package let language: String
    package let form: MessageForm

    /// What a country's registry knows the text by.
    package let registration: TemplateRegistration?

    package var description: String { "text in \(language), \(form.rawValue)" }
}
