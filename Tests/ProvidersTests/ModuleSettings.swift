// SPDX-License-Identifier: Apache-2.0

import SettingsReading
import Verification

@testable import Providers

/// The settings of one provider as a file states them, read without a worker.
final class ModuleSettings: SettingSource {
    private let faults = FaultCollector(file: "courier.yaml")
    private let folder: String
    private let entry: ProviderEntry?

    /// The keys that were read.
    private var asked: Set<String> = []

    /// Parses an element of the list of providers; paths of files are relative to `folder`.
    convenience init(_ entry: String, in folder: String = "/nowhere") {
        self.init(file: "providers:\n  - \(entry)\n", in: folder)
    }

    /// Parses a file with one provider.
    init(file text: String, in folder: String) {
        let file = YAMLDocument.parse(text, faults: faults)
        self.folder = folder
        self.entry = file?.peek("providers")?.list(of: "providers")?.first.flatMap { ProviderEntry($0) }
    }

    /// The provider's settings; throws their faults.
    func settings() throws -> ProviderSettings {
        try faults.result(entry.flatMap { ProviderSettings($0, self) }).get()
    }

    func configuration() throws -> any ProviderModule { try settings().configuration }

    /// The faults of the settings, one a line.
    var lines: [String] {
        guard case .failure(let faults) = Result(catching: settings) else { return [] }
        return (faults as? ConfigurationFaults)?.faults.map(\.description) ?? []
    }

    /// The module's keys that no reader reads.
    var unread: Set<String> {
        guard let entry else { return [] }
        _ = ProviderSettings(entry, self)
        return Set(entry.keys).subtracting(asked)
    }

    func setting(_ key: SettingKey) -> StatedValue? {
        let name = key.last ?? ""
        asked.insert(name)
        guard let value = entry?.mapping[name], let text = value.scalarText else { return nil }
        return StatedValue(text: text.trimmed, origin: .file(value))
    }

    func report(_ key: SettingKey, at origin: StatedValue.Origin, _ message: String) {
        if case .file(let value) = origin { value.fault(message) }
    }

    func reportMissing(_ key: SettingKey, such example: String, line: Int?) {
        guard setting(key) == nil, setting(key.ofFile) == nil else { return }
        faults.report(line: line, key: key.joined(separator: "."), "is required; add it, such as \(example)")
    }

    func resolve(_ path: String, at origin: StatedValue.Origin) -> String {
        path.hasPrefix("/") ? path : "\(folder)/\(path)"
    }

    func note(_ secret: Secret, in path: String, for key: SettingKey) {}
}
