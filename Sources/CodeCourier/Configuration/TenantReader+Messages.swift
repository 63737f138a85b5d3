// SPDX-License-Identifier: Apache-2.0

import Formats
import SettingsReading
import Verification

extension TenantReader {
    /// Reports texts that do not fit one segment at their longest, once for each key that can fix it.
    func checkMessages(of tenant: TenantPolicy) {
        let faults = Dictionary(grouping: tenant.messageOverflows) { place(of: $0) }
        for (place, overflows) in faults {
            guard let worst = overflows.max(by: { $0.excess < $1.excess }) else { continue }
            value(at: place)?.fault(message(worst, among: overflows.count, tenant))
        }
    }

    /// The key of the text to shorten: the operator's own text, the signature, or the name.
    private func place(of overflow: MessageOverflow) -> [String] {
        let region = overflow.region.map { ["messages", "regions", $0.code] }
        if overflow.isOwn {
            let own = [region, ["messages"]].compactMap(\.self).map { $0 + ["templates", overflow.language] }
            return own.first { value(at: $0) != nil } ?? ["messages"]
        }
        let signature = region.map { $0 + ["signature"] }
        return signature.flatMap { value(at: $0) == nil ? nil : $0 } ?? ["appName"]
    }

    private func value(at place: [String]) -> YAMLValue? {
        guard let first = place.first else { return nil }
        return place.dropFirst().reduce(mapping[first]) { value, key in value?.peek(key) }
    }

    private func message(_ worst: MessageOverflow, among count: Int, _ tenant: TenantPolicy) -> String {
        let region = worst.region.map { " for \($0)" } ?? ""
        let text = "the text in \(worst.language)\(region), variant \(worst.variant.rawValue)"
        let (length, capacity) = (worst.size.length, worst.size.capacity)
        let size = "takes \(length) units of \(worst.size.alphabet.rawValue) where one segment holds \(capacity)"
        let name = "a name of \(tenant.appName.unicodeScalars.count) characters"
        let domain = worst.variant == .domain ? ", a domain of \(MessageVariant.longestDomain)" : ""
        let values = "\(tenant.code.length) digits, \(tenant.code.validity.shownMinutes) min, \(name)\(domain)"
        let others = count > 1 ? "; so do \(count - 1) other texts" : ""
        return "must be shorter: \(text), \(size), with \(values)\(others)"
    }
}

extension MessageOverflow {
    fileprivate var excess: Int { size.length - size.capacity }
}
