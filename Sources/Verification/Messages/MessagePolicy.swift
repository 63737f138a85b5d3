// SPDX-License-Identifier: Apache-2.0

import Formats

/// A tenant's own texts, which replace the built-in ones.
package struct MessagePolicy: Sendable, Equatable {
    /// The texts by language, keyed by `LanguageTag.catalogKey`.
    package var templates: [String: MessageTemplate]
    package var regions: [Region: RegionMessages]

    package init(templates: [String: MessageTemplate] = [:], regions: [Region: RegionMessages] = [:]) {
        self.templates = templates
        self.regions = regions
    }

    /// Every language that a person in a region may get, sorted by name.
    package func languages(in region: Region) -> [String] {
        let own = regions[region]
        if own?.registration != nil { return (own?.templates.keys).map { $0.sorted() } ?? [] }
        return Set(MessageCatalog.languages).union(templates.keys).union(own?.templates.keys.map(\.self) ?? []).sorted()
    }
}

/// The rules for messages to one region.
package struct RegionMessages: Sendable, Equatable {
    /// The texts by language; they take precedence over the tenant's.
    package var templates: [String: MessageTemplate]

    /// The ids of the only template registered for this region.
    ///
    /// Carriers drop every other text, so people of every language get this one.
    package var registration: TemplateRegistration?

    /// The prefix of each text, such as `【Acme】` in China; empty for none.
    package var signature: String

    /// True if a text may end with a domain or an Android app's hash.
    ///
    /// It would change a registered text, and China's carriers block links.
    package var hasAutofill: Bool

    package init(
        templates: [String: MessageTemplate] = [:],
        registration: TemplateRegistration? = nil,
        signature: String = "",
        hasAutofill: Bool = true
    ) {
        self.templates = templates
        self.registration = registration
        self.signature = signature
        self.hasAutofill = hasAutofill
    }
}

/// The forms of one language's text, the longest first; never empty.
struct MessageForms {
    let language: String
    let forms: [(name: MessageForm, template: MessageTemplate)]

    /// Creates the only form of an operator's text.
    init(language: String, own template: MessageTemplate) {
        self.language = language
        forms = [(.own, template)]
    }

    /// Creates the forms of a built-in text.
    init(_ texts: LanguageTexts) {
        language = texts.language
        forms = texts.smsForms
    }
}

extension MessagePolicy {
    /// The text for a person in a region: follows each tag in turn, at each step the region's text before the tenant's.
    func forms(for tags: [String], in region: Region) -> MessageForms {
        let own = regions[region]
        if let own, own.registration != nil, let (language, template) = own.templates.first {
            return MessageForms(language: language, own: template)
        }
        for tag in tags {
            for key in LanguageTag(tag)?.catalogKeys ?? [] {
                if let template = own?.templates[key] ?? templates[key] {
                    return MessageForms(language: key, own: template)
                }
                if let texts = MessageCatalog[key] { return MessageForms(texts) }
            }
        }
        return MessageForms(MessageCatalog.english)
    }
}
