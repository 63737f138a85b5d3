// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import SettingsReading

struct SettingsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "Writes the declared settings into their page and their schema.",
        shouldDisplay: false
    )

    func run() throws {
        for document in SettingsDocument.all {
            let file = URL(filePath: document.path)
            try Data(document.renewed(String(contentsOf: file, encoding: .utf8)).utf8).write(to: file)
        }
    }
}

/// A document with a part that is made from the declared settings, between two texts.
struct SettingsDocument: Sendable {
    let path: String
    let start: String
    let end: String
    let part: String

    static var all: [SettingsDocument] {
        let table = Setting.declared.filter { $0.form != .section }.map { setting in
            "| `\(setting.key.joined(separator: "."))` | \(setting.fallback) | \(setting.description) |\n"
        }
        let columns = "\n| key | default | what it is |\n|---|---|---|\n"
        return [
            .init(path: "docs/configuration.md", start: columns, end: "\n## ", part: table.joined()),
            .init(
                path: "schemas/courier.schema.json",
                start: "\n  \"properties\": {\n",
                end: "    \"providers\": {\n",
                part: "\(members(of: []).joined(separator: ",\n")),\n"
            ),
        ]
    }

    /// The text with its part replaced by the declared settings; unchanged if `start` or `end` is missing.
    func renewed(_ text: String) -> String {
        guard let before = text.firstRange(of: start), let after = text[before.upperBound...].firstRange(of: end) else {
            return text
        }
        return text[..<before.upperBound] + part + text[after.lowerBound...]
    }

    /// The members of a mapping's schema, one setting a line.
    private static func members(of key: SettingKey) -> [String] {
        let indent = String(repeating: "  ", count: key.count + 2)
        return Setting.declared(under: key).filter { $0.key != ["providers"] }.flatMap { setting in
            setting.names.enumerated().map { index, name in
                let link = /\[([^\]]*)\]\([^)]*\)/
                let meaning = setting.description.replacing(link) { $0.output.1 }.replacing("`", with: "")
                let description = index == 0 ? meaning : "the path of a file that holds \(setting.names[0])"
                let start = "\(indent)\"\(name)\": {\"description\":\"\(description)\""
                guard setting.form == .section else { return "\(start),\(setting.schema)}" }
                let object = #""type":"object","additionalProperties":false,"properties""#
                return "\(start),\(object):{\n\(members(of: setting.key).joined(separator: ",\n"))\n\(indent)}}"
            }
        }
    }
}
