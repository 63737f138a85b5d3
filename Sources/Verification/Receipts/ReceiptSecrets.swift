// SPDX-License-Identifier: Apache-2.0

package import Crypto
import Formats

/// The signature of a provider's callbacks.
package protocol ReceiptSignature: Sendable {
    /// True if a receipt carries a signature outside of its request's headers.
    func isStated(in record: ReceiptRecord) -> Bool

    /// True if one of the secrets has signed the receipt.
    func isValid(_ record: ReceiptRecord, _ secrets: [[UInt8]], _ attempts: inout SignatureAttempts) -> Bool
}

/// The form in which a kind of provider reports: the fields of its callbacks, and its error codes.
package struct ReceiptFormat: Sendable {
    /// Reads a callback's parameters; nil for another format, which is recognised by the names of its fields.
    let read: @Sendable ([String: String]) -> ProviderStatement?

    /// The reason for an error code; nil for an unknown one.
    let reason: @Sendable (String) -> UndeliveredReason?

    package init(
        read: @escaping @Sendable ([String: String]) -> ProviderStatement?,
        reason: @escaping @Sendable (String) -> UndeliveredReason?
    ) {
        (self.read, self.reason) = (read, reason)
    }
}

/// The formats and signatures of the providers' receipts, and their secrets, by the provider's name.
///
/// Receipts of a provider without an entry are not checked.
package struct ReceiptSecrets: Sendable, Redacted {
    package struct Entry: Sendable, Redacted {
        package let signature: any ReceiptSignature

        /// The valid secrets; a match of any is enough, so that a secret can be rotated without losing receipts.
        let secrets: [[UInt8]]

        /// True if a receipt without a signature is rejected; otherwise only a wrong signature is.
        package let isRequired: Bool

        package init(_ signature: any ReceiptSignature, secrets: [[UInt8]], isRequired: Bool = false) {
            self.signature = signature
            self.secrets = secrets.filter { !$0.isEmpty }
            self.isRequired = isRequired
        }

        package var description: String { "\(type(of: signature)), \(secrets.count) secrets, required: \(isRequired)" }
    }

    private let entries: [String: Entry]
    private let aliases: [String: String]
    private let formats: [ReceiptFormat]
    private let formatsByName: [String: ReceiptFormat]

    /// - Parameters:
    ///   - entries: the signature entries by the provider's name.
    ///   - aliases: the provider's name by other names that receipts may use.
    ///   - formats: all known formats of callbacks; each has a field's name that no other has.
    ///   - formatsByName: the format with the error codes of each provider, by the provider's name.
    package init(
        _ entries: [String: Entry] = [:],
        aliases: [String: String] = [:],
        formats: [ReceiptFormat] = [],
        formatsByName: [String: ReceiptFormat] = [:]
    ) {
        self.entries = entries
        self.aliases = aliases
        self.formats = formats
        self.formatsByName = formatsByName
    }

    /// The content of a callback, by the first format that matches its parameters; nil if none does.
    ///
    /// The provider's kind does not matter: a gateway may pass on callbacks of any.
    func statement(_ parameters: [String: String]) -> ProviderStatement? {
        if parameters.isEmpty { return nil }
        for format in formats {
            if let statement = format.read(parameters) { return statement }
        }
        return nil
    }

    /// The configured name of a provider, from the name in a receipt.
    package func name(of provider: String) -> String { aliases[provider] ?? provider }

    /// These secrets plus each provider's newest previous one, with which receipts in flight are signed.
    package func keeping(_ previous: ReceiptSecrets) -> ReceiptSecrets {
        var entries = entries
        for (provider, entry) in entries {
            guard let old = previous.entries[provider], type(of: old.signature) == type(of: entry.signature) else {
                continue
            }
            let before = old.secrets.first { !entry.secrets.contains($0) }
            let secrets = entry.secrets + [before].compactMap(\.self)
            entries[provider] = Entry(entry.signature, secrets: secrets, isRequired: entry.isRequired)
        }
        return ReceiptSecrets(entries, aliases: aliases, formats: formats, formatsByName: formatsByName)
    }

    package var description: String { "ReceiptSecrets(\(entries.keys.sorted().joined(separator: ", ")))" }

    /// Checks a receipt's signature, if its provider signs.
    ///
    /// A receipt with data of an HTTP request must have a valid signature, since a forged callback always has such
    /// data. Other receipts are a trusted gateway's own and need none, unless signatures are required.
    func accept(_ record: ReceiptRecord) -> Bool {
        var attempts = SignatureAttempts()
        return accept(record, &attempts)
    }

    func accept(_ record: ReceiptRecord, _ attempts: inout SignatureAttempts) -> Bool {
        guard let entry = entries[record.provider] else { return true }
        let mustBeSigned = entry.isRequired || record.url != nil || record.headers != nil
        guard mustBeSigned || entry.signature.isStated(in: record) else { return true }
        return entry.signature.isValid(record, entry.secrets, &attempts)
    }

    /// The reason for a normalised receipt's error code: one of our own words, or a code of the provider's format.
    func reason(of errorCode: String, by provider: String) -> UndeliveredReason? {
        UndeliveredReason(rawValue: errorCode.lowercased()) ?? formatsByName[provider]?.reason(errorCode)
    }
}

/// The number of signatures computed to check one callback: limited, so that a forged one costs little.
package struct SignatureAttempts {
    static let most = 16

    private(set) var count = 0

    package var isOver: Bool { count >= Self.most }

    /// True if the signature is valid; false without a computation once the limit is reached.
    package mutating func isValid(_ isRight: () -> Bool) -> Bool {
        if isOver { return false }
        count += 1
        return isRight()
    }

    package mutating func isValid<Hash>(
        _ signature: [UInt8],
        of signed: [UInt8],
        _ key: SymmetricKey,
        _ code: HMAC<Hash>.Type
    ) -> Bool {
        isValid { code.isValidAuthenticationCode(signature, authenticating: signed, using: key) }
    }
}
