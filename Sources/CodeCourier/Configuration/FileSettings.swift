// SPDX-License-Identifier: Apache-2.0

/// A key of the configuration as its components, such as `["kafka", "bootstrapServers"]`.
typealias SettingKey = [String]

/// The configuration file's scalars by key, and its lists and mappings.
struct FileSettings {
    /// A scalar with its location.
    struct Scalar {
        let text: String
        let value: YAMLValue
    }

    private static let sections: [(name: String, scalars: [String], others: [String])] = [
        ("kafka", ["bootstrapServers", "groupId"], ["options", "topics"]),
        ("postgres", ["url", "urlFile", "retention"], []),
        ("policy", ["path"], []),
        (
            "keys",
            ["code", "codeFile", "hash", "hashFile", "fingerprint", "fingerprintFile", "seal", "sealFile"], []
        ),
        (
            "worker",
            [
                "cell", "maxInFlight", "batchSize", "maxRequestAge", "unknownOutcome", "lease", "callDeadline",
                "receiptGrace", "drainTimeout", "healthPath",
            ], []
        ),
        ("log", ["level", "format", "statsInterval"], []),
    ]

    private static let topics = ["requests", "receipts", "deliveries", "deadLetters"]

    /// The sections that variables can override, including providers.
    static let sectionNames = sections.map(\.name) + ["providers"]

    /// The keys that variables can override, except those of providers.
    static let overridable: [SettingKey] = {
        let keys = sections.flatMap { section in section.scalars.map { [section.name, $0] } }
        return keys + topics.map { ["kafka", "topics", $0] }
    }()

    private(set) var scalars: [SettingKey: Scalar] = [:]

    /// The keys that are misspelt or empty in the file; they are not reported as missing too.
    private(set) var faulty: Set<SettingKey> = []

    /// `kafka.options`, whose keys are librdkafka's own names.
    private(set) var kafkaOptions: YAMLValue?

    /// The providers of supported kinds, in file order.
    private(set) var providers: [ProviderEntry] = []

    /// True when the file has a list of providers, valid or not.
    private(set) var namesProviders = false

    /// Splits a file into settings; without a file everything comes from the environment.
    init(root: YAMLValue?) {
        guard let root = root?.mapping(keys: Self.sectionNames) else { return }
        for section in Self.sections {
            if root.misspelt.contains(section.name) {
                faulty.formUnion(section.scalars.map { [section.name, $0] })
            }
            guard let mapping = root[section.name]?.mapping(keys: section.scalars + section.others) else { continue }
            take(section.scalars, of: mapping, under: [section.name])
            guard section.name == "kafka" else { continue }
            kafkaOptions = mapping["options"]
            if let names = mapping["topics"]?.mapping(keys: Self.topics) {
                take(Self.topics, of: names, under: ["kafka", "topics"])
            }
        }
        namesProviders = root["providers"].map { !$0.isEmptyList } ?? root.misspelt.contains("providers")
        providers = root["providers"].map(ProviderEntry.read) ?? []
        for provider in providers {
            take(ProviderEntry.overridable, of: provider.mapping, under: provider.key)
        }
    }

    private mutating func take(_ names: [String], of mapping: YAMLMapping, under key: SettingKey) {
        faulty.formUnion(mapping.misspelt.map { key + [$0] })
        for name in names {
            guard let value = mapping[name] else { continue }
            if let text = value.scalarText {
                scalars[key + [name]] = Scalar(text: text, value: value)
            } else {
                faulty.insert(key + [name])
                value.fault(value.isNull ? "must not be empty; give it a value or remove it" : "must be a single value")
            }
        }
    }
}
