// SPDX-License-Identifier: Apache-2.0

import Formats

/// The form of a text: the full one, or a shorter one that fits one segment.
package enum MessageForm: String, Sendable, CaseIterable {
    /// The operator's own text, which is never changed.
    case own

    /// The built-in text.
    case full

    /// The built-in text without the sentence on the code's validity.
    case withoutMinutes = "without minutes"

    case nameAndCode = "name and code"
}

/// The text of one SMS.
///
/// Its description omits the text, which holds the code.
package struct MessageText: Sendable, Redacted {
    package let text: String

    /// The language of the text, which may be a fallback of the request's.
    package let language: String
    package let form: MessageForm

    /// The ids of the text in a country's registry of templates.
    package let registration: TemplateRegistration?

    package var description: String { "text in \(language), \(form.rawValue)" }
}
