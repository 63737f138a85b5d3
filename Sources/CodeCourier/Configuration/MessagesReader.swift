// SPDX-License-Identifier: Apache-2.0

import Formats
import SettingsReading
import Verification

/// Reads a tenant's own texts; the built-in ones fill the gaps.
enum MessagesReader {
    static func read(_ value: YAMLValue) -> MessagePolicy {
        guard let mapping = value.mapping(keys: ["templates", "regions"]) else { return MessagePolicy() }
        let entries = mapping["regions"]?.entries(.region, called: "a region") ?? []
        return MessagePolicy(
            templates: mapping["templates"].map(templates) ?? [:],
            regions: Dictionary(entries.map { ($0.key, region($0.value)) }) { first, _ in first }
        )
    }

    private static func region(_ value: YAMLValue) -> RegionMessages {
        guard let mapping = value.mapping(keys: ["templates", "registration", "signature", "autofill"]) else {
            return RegionMessages()
        }
        let templates = mapping["templates"].map(templates) ?? [:]
        let registration = mapping["registration"].flatMap(registration)
        if let stated = mapping["registration"], templates.count != 1 {
            stated.fault("stands for one text, which people of every language get: give exactly one template beside it")
        }
        // Carriers that require registered texts or signatures drop unknown texts, above all those with links.
        let isControlled = mapping["registration"] != nil || mapping["signature"] != nil
        return RegionMessages(
            templates: templates,
            registration: templates.count == 1 ? registration : nil,
            signature: mapping.read("signature", .signature, default: ""),
            hasAutofill: mapping.read("autofill", .boolean, default: !isControlled)
        )
    }

    private static func templates(_ value: YAMLValue) -> [String: MessageTemplate] {
        var templates: [String: MessageTemplate] = [:]
        for (language, text) in value.entries(.catalogKey, called: "a language") ?? [] {
            guard let template = template(text) else { continue }
            if templates.updateValue(template, forKey: language) != nil {
                text.fault("is a second text in \(language); keep one")
            }
        }
        return templates
    }

    private static func template(_ value: YAMLValue) -> MessageTemplate? {
        guard let text = value.scalarText else {
            value.fault("must be a text such as \"{code} is your {appName} code. It expires in {minutes} min.\"")
            return nil
        }
        do throws(MessageTemplate.Flaw) {
            return try MessageTemplate(checking: text)
        } catch {
            value.fault(error.description)
            return nil
        }
    }

    private static func registration(_ value: YAMLValue) -> TemplateRegistration? {
        guard let mapping = value.mapping(keys: ["entityId", "templateId"]) else { return nil }
        let entity = mapping.required("entityId", such: "\"1101000000000000001\"")?.read(.registrationID)
        let template = mapping.required("templateId", such: "\"1107000000000000001\"")?.read(.registrationID)
        guard let entity, let template else { return nil }
        return TemplateRegistration(entityID: entity, templateID: template)
    }
}

extension ValueRule where Value == String {
    /// A language in the form that texts are looked up by: `zh-TW` is `zh-Hant`.
    fileprivate static var catalogKey: Self {
        Self(requirement: ValueRule<String>.language.requirement) { LanguageTag($0)?.catalogKey }
    }

    /// A prefix of a text, restricted like a name, since it is as visible.
    fileprivate static var signature: Self {
        let requirement = "must be 1 to 20 characters without control characters, links, @ or four digits"
        return Self(requirement: "\(requirement), such as 【Acme】") { text in
            text.unicodeScalars.count > 20 ? nil : AppName(own: text)?.text
        }
    }

    fileprivate static var registrationID: Self {
        Self(requirement: "must be 1 to 64 letters, digits or ._-, in quotes") { ValueRule.name(upTo: 64).parse($0) }
    }
}
