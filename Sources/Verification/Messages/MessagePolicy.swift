// SPDX-License-Identifier: Apache-2.0

/// A tenant's own texts, in the place of the built-in ones.
package struct MessagePolicy: Sendable, Equatable {
    /// By language, as `LanguageTag.catalogKey` names it.
    package var templates: [String: MessageTemplate]
    package var regions: [Region: RegionMessages]

    package init(templates: [String: MessageTemplate] = [:], regions: [Region: RegionMessages] = [:]) {
        self.templates = templates
        self.regions = regions
    }

    /// Every language that a person in a region can get, in the order of their names.
    package func languages(in region: Region) -> [String] {
        let own = regions[region]
        if own?.registration != nil { return (own?.templates.keys).map { $0.sorted() } ?? [] }
        return Set(MessageCatalog.languages).union(templates.keys).union(own?.templates.keys.map(\.self) ?? []).sorted()
    }
}

/// What is different in the messages to one region.
package struct RegionMessages: Sendable, Equatable {
    /// By language; they go before the tenant's.
    package var templates: [String: MessageTemplate]

    /// The ids of the one template of this region.
    ///
    /// Carriers drop every other text, so it is sent to people of every language.
    package var registration: TemplateRegistration?

    /// What stands in front of each text, such as `【Acme】` in China; else empty.
    package var signature: String

    /// Whether a domain or an Android app's hash may end the text.
    ///
    /// It makes another text of a registered one, and China's carriers block links.
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

    /// An operator's text.
    init(language: String, own template: MessageTemplate) {
        self.language = language
        forms = [(.own, template)]
    }

    /// A built-in text.
    init(_ texts: LanguageTexts) {
        language = texts.language
        forms = [
            (.full, texts.full), (.withoutMinutes, texts.withoutMinutes), (.nameAndCode, MessageCatalog.nameAndCode),
        ]
    }
}

extension MessagePolicy {
    /// The text for a person in a region: along each tag in turn, at each step the region's before the tenant's own.
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
