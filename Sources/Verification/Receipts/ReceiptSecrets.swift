// SPDX-License-Identifier: Apache-2.0

import Formats

/// The providers' schemes and secrets for signed callbacks, by the provider's name.
///
/// Receipts of a provider without an entry are not checked.
package struct ReceiptSecrets: Sendable, Redacted {
    package enum Scheme: Sendable, Hashable {
        /// The header `X-Twilio-Signature`; the secret is the account's auth token.
        case twilio

        /// The parameter `sig` of the SMS API, with the account's digest, or the token in the Messages API's
        /// `Authorization` header.
        ///
        /// The secret is the account's signature secret.
        case vonage(VonageDigest)
    }

    package struct Entry: Sendable, Redacted {
        package let scheme: Scheme

        /// The valid secrets; a match of any is enough, so that a secret can be rotated without losing receipts.
        let secrets: [[UInt8]]

        /// True if a receipt without a signature is rejected; otherwise only a wrong signature is.
        package let isRequired: Bool

        /// The URL that the provider calls, if known; nil for the URL that the gateway received.
        let callbackURL: String?

        package init(_ scheme: Scheme, secrets: [[UInt8]], isRequired: Bool = false, callbackURL: String? = nil) {
            self.callbackURL = callbackURL
            self.scheme = scheme
            self.secrets = secrets.filter { !$0.isEmpty }
            self.isRequired = isRequired
        }

        package var description: String { "\(scheme), \(secrets.count) secrets, required: \(isRequired)" }
    }

    private let entries: [String: Entry]
    private let aliases: [String: String]

    /// The set of error codes that each provider uses, by the provider's name.
    private let vocabularies: [String: Vocabulary]

    /// - Parameters:
    ///   - entries: the signature entries by the provider's name.
    ///   - aliases: the provider's name by other names that receipts may use.
    ///   - vocabularies: the sets of error codes by provider; a provider with a signature scheme has its scheme's by
    ///     default.
    package init(
        _ entries: [String: Entry] = [:],
        aliases: [String: String] = [:],
        vocabularies: [String: Vocabulary] = [:]
    ) {
        self.entries = entries
        self.aliases = aliases
        self.vocabularies = entries.mapValues(\.scheme.vocabulary).merging(vocabularies) { first, _ in first }
    }

    /// The configured name of a provider, from the name in a receipt.
    package func name(of provider: String) -> String { aliases[provider] ?? provider }

    /// These secrets plus each provider's newest previous one, with which receipts in flight are signed.
    package func keeping(_ previous: ReceiptSecrets) -> ReceiptSecrets {
        var entries = entries
        for (provider, entry) in entries {
            guard let old = previous.entries[provider], old.scheme == entry.scheme else { continue }
            let before = old.secrets.first { !entry.secrets.contains($0) }
            let secrets = entry.secrets + [before].compactMap(\.self)
            entries[provider] = Entry(
                entry.scheme,
                secrets: secrets,
                isRequired: entry.isRequired,
                callbackURL: entry.callbackURL
            )
        }
        return ReceiptSecrets(entries, aliases: aliases, vocabularies: vocabularies)
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
        return switch entry.scheme {
        case .twilio:
            !mustBeSigned
                || TwilioSignature.isValid(record, entry.secrets, callbackURL: entry.callbackURL, &attempts)
        case .vonage(let digest):
            !(mustBeSigned || record.parameters["sig"] != nil)
                || VonageSignature.isValid(record, digest, entry.secrets, &attempts)
        }
    }

    /// The reason for a normalised receipt's error code: one of our own words, or a code of the provider's vocabulary.
    func reason(of errorCode: String, by provider: String) -> UndeliveredReason? {
        if let reason = UndeliveredReason(rawValue: errorCode.lowercased()) { return reason }
        return switch vocabularies[provider] {
        case .twilio: TwilioCallback.reasons[errorCode]
        case .vonage: VonageReceipt.reasons[errorCode] ?? VonageMessageStatus.reasons[errorCode]
        case .sns: SNSDeliveryStatus.reasons[errorCode.lowercased()] ?? SNSDeliveryStatus.codes[errorCode]
        case nil: nil
        }
    }

    /// The service whose error codes a provider uses.
    package enum Vocabulary: Sendable, Hashable {
        case twilio
        case vonage
        case sns
    }
}

extension ReceiptSecrets.Scheme {
    fileprivate var vocabulary: ReceiptSecrets.Vocabulary {
        switch self {
        case .twilio: .twilio
        case .vonage: .vonage
        }
    }
}

/// The digest of `sig` in Vonage's SMS API, by the account's settings.
package enum VonageDigest: String, Sendable, Hashable, CaseIterable {
    /// MD5 over the parameters followed by the secret; the other cases are HMACs.
    case md5Hash = "md5hash"
    case md5 = "md5"
    case sha1 = "sha1"
    case sha256 = "sha256"
    case sha512 = "sha512"
}
