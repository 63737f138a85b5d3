// SPDX-License-Identifier: Apache-2.0

/// How providers sign their callbacks, by the provider's name.
///
/// A provider that is not in here signs nothing that is checked.
package struct ReceiptSecrets: Sendable, Redacted {
    /// How a provider signs.
    package enum Scheme: Sendable, Hashable {
        /// The header `X-Twilio-Signature`; the secret is the account's auth token.
        case twilio

        /// The parameter `sig` of the SMS API, made as the account is set to; or the token of the Messages API in the
        /// header `Authorization`. The secret is the account's signature secret.
        case vonage(VonageDigest)
    }

    /// The secrets of one provider.
    package struct Entry: Sendable, Redacted {
        package let scheme: Scheme

        /// Whichever of them fits is good, so that a secret can be changed without losing receipts.
        let secrets: [[UInt8]]

        /// Whether a receipt without a signature is refused; otherwise only a wrong one is.
        package let isRequired: Bool

        /// The address that the provider calls, where it is known; nil for what the gateway saw.
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

    /// The codes that a provider's failures have, by its name.
    private let vocabularies: [String: Vocabulary]

    /// - Parameters:
    ///   - entries: by the provider's name.
    ///   - aliases: what receipts may call a provider instead, with its name.
    ///   - vocabularies: whose codes mean what; a provider with a signature has its scheme's without being named here.
    package init(
        _ entries: [String: Entry] = [:],
        aliases: [String: String] = [:],
        vocabularies: [String: Vocabulary] = [:]
    ) {
        self.entries = entries
        self.aliases = aliases
        self.vocabularies = entries.mapValues(\.scheme.vocabulary).merging(vocabularies) { first, _ in first }
    }

    /// The name of the provider that a receipt calls so.
    package func name(of provider: String) -> String { aliases[provider] ?? provider }

    /// The same, and the newest secret of each provider before a change, which receipts on their way are signed with.
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

    /// Whether a receipt may be believed, as far as its provider signs.
    ///
    /// A receipt with anything of its HTTP request beside it must be signed rightly: a forged callback comes in no other
    /// way. One without is a trusted gateway's own, unless signatures are required.
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

    /// The reason that a normalised receipt's code tells: one of our own words, or a code of the provider's list.
    func reason(of errorCode: String, by provider: String) -> UndeliveredReason? {
        if let reason = UndeliveredReason(rawValue: errorCode.lowercased()) { return reason }
        return switch vocabularies[provider] {
        case .twilio: TwilioCallback.reasons[errorCode]
        case .vonage: VonageReceipt.reasons[errorCode] ?? VonageMessageStatus.reasons[errorCode]
        case .sns: SNSDeliveryStatus.reasons[errorCode.lowercased()] ?? SNSDeliveryStatus.codes[errorCode]
        case nil: nil
        }
    }

    /// The service whose codes a provider's failures have.
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

/// How Vonage's SMS API makes `sig`, as the account's settings choose.
package enum VonageDigest: String, Sendable, Hashable, CaseIterable {
    /// MD5 of the parameters and then the secret.
    case md5Hash = "md5hash"
    case md5 = "md5"
    case sha1 = "sha1"
    case sha256 = "sha256"
    case sha512 = "sha512"
}
