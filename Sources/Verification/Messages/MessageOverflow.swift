// SPDX-License-Identifier: Apache-2.0

package import Formats

/// The kinds of last line that a text may have.
package enum MessageVariant: String, Sendable, CaseIterable {
    case plain
    case domain
    case androidApp = "Android app"

    /// The maximum length of a domain with which a text is guaranteed to fit one segment.
    package static let longestDomain = 20

    /// A sample domain and a sample app hash of the lengths that policies are checked with.
    package static let sampleDomain = "accounts.example.com"
    package static let sampleHash = "FA+9qCX9VSu"

    /// The size of the last line for a code with that many digits, including the empty line before it.
    func ending(digits: Int) -> TextSize {
        switch self {
        case .plain: .plain(0)
        case .domain: .plain("\n\n@ #".count + Self.longestDomain + digits)
        case .androidApp: .plain("\n\n".count + Self.sampleHash.count)
        }
    }
}

/// A text of a policy that exceeds one segment with the longest values that the policy allows.
package struct MessageOverflow: Sendable, Equatable {
    /// The region of the text; nil for the text of regions without their own.
    package let region: Region?
    package let language: String
    package let variant: MessageVariant
    package let isOwn: Bool
    package let size: TextSize
}

extension TenantPolicy {
    /// The texts that need two segments with their longest values.
    ///
    /// The values are the tenant's name, the code's length and validity, and a domain of 20 characters.
    package var messageOverflows: [MessageOverflow] {
        let regions = [nil] + messages.regions.keys.sorted().map(Optional.some)
        return regions.flatMap { region in
            messages.languages(in: region ?? .unknown).flatMap { overflows(language: $0, region: region) }
        }
    }

    private func overflows(language: String, region: Region?) -> [MessageOverflow] {
        let own = region.flatMap { messages.regions[$0] }
        let forms = messages.forms(for: [language], in: region ?? .unknown)
        let variants = own?.hasAutofill == false ? [.plain] : MessageVariant.allCases
        return variants.compactMap { variant in
            let frame = MessageFrame(
                around: TextSize(own?.signature ?? "") + variant.ending(digits: code.length),
                code: .plain(code.length),
                minutes: .plain(String(code.validity.shownMinutes).utf8.count)
            )
            let choice = frame.choice(of: forms, names: [appName])
            guard !choice.size.fitsOneSegment else { return nil }
            return MessageOverflow(
                region: region,
                language: language,
                variant: variant,
                isOwn: choice.form == .own,
                size: choice.size
            )
        }
    }
}
