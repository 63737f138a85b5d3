// SPDX-License-Identifier: Apache-2.0

import Formats

extension MessagePolicy {
    /// The text of a message: one segment if possible, since a second one doubles the price.
    ///
    /// If the text with the request's own name is too long, its shorter forms are tried, then all forms with the
    /// tenant's name. The request's name outranks a sentence, because people trust the name. If nothing fits, as with a
    /// very long domain, the shortest text is sent in several segments: the line that binds the code to its site is
    /// never dropped.
    ///
    /// `region` is the number's region, `validity` the code's remaining validity, `appName` the tenant's own name, and
    /// `language` the tenant's default for a request whose language has no text.
    package func text(
        _ rendering: Rendering,
        region: Region,
        code: VerificationCode,
        validity: Duration,
        appName: String,
        language: String
    ) -> MessageText {
        let own = regions[region]
        let signature = own?.signature ?? ""
        let ending = own?.hasAutofill == false ? "" : rendering.ending(code.digits)
        let forms = forms(for: [rendering.language, language, "en"], in: region)
        let minutes = String(validity.shownMinutes)
        let frame = MessageFrame(
            around: TextSize(signature) + TextSize(ending),
            code: TextSize(code.digits),
            minutes: .plain(minutes.utf8.count)
        )
        let chosen = frame.choice(of: forms, names: [rendering.appName, appName])
        let text = chosen.template.text { place in
            switch place {
            case .code: code.digits
            case .appName: chosen.name
            case .minutes: minutes
            }
        }
        return MessageText(
            text: signature + text + ending,
            language: forms.language,
            form: chosen.form,
            registration: own?.registration
        )
    }
}

/// The sizes of the parts that all forms of a text share, used to choose the form.
struct MessageFrame {
    struct Choice {
        let form: MessageForm
        let template: MessageTemplate
        let name: String
        let size: TextSize
    }

    /// The size of the signature and of the last line together.
    let around: TextSize
    let code: TextSize
    let minutes: TextSize

    /// The first form that fits one segment, by name and then by length; otherwise the last one.
    func choice(of forms: MessageForms, names: [String]) -> Choice {
        var last: Choice?
        for name in names {
            let nameSize = TextSize(name)
            for (form, template) in forms.forms {
                let choice = Choice(form: form, template: template, name: name, size: size(template, nameSize))
                if choice.size.fitsOneSegment { return choice }
                last = choice
            }
        }
        guard let last else { preconditionFailure("there is a name, and a text has a form") }
        return last
    }

    private func size(_ template: MessageTemplate, _ name: TextSize) -> TextSize {
        around
            + template.size { place in
                switch place {
                case .code: code
                case .appName: name
                case .minutes: minutes
                }
            }
    }
}

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
