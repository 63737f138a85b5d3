// SPDX-License-Identifier: Apache-2.0

import Formats

/// The money that a tenant may spend on text messages within a window.
package struct Budget: Sendable, Equatable {
    /// The window: the last hour in steps of 5 minutes, the last day in steps of an hour, or a calendar month.
    package enum Period: String, Sendable, CaseIterable {
        case hour, day, month
    }

    package enum Mode: String, Sendable, CaseIterable {
        /// Sends the message, and logs that the exhausted budget would have refused it.
        case record
        case enforce
    }

    package let name: String
    package var amount: Money

    /// The currency's code in ISO 4217, which is the price table's.
    package var currency: String
    package var period: Period

    /// The time zone of months, such as `Europe/Berlin`.
    package var timeZone: String

    /// The regions, channels and purposes that it pays for; nil for all.
    package var regions: Set<Region>?
    package var channels: Set<Channel>?
    package var purposes: Set<Purpose>?

    /// The percentages at which a warning is logged.
    package var warnAt: [Int]

    /// The percentage reserved for people whose number is confirmed.
    package var reserve: Int
    package var mode: Mode

    package init(
        name: String,
        amount: Money,
        currency: String,
        period: Period,
        timeZone: String = "UTC",
        regions: Set<Region>? = nil,
        channels: Set<Channel>? = nil,
        purposes: Set<Purpose>? = nil,
        warnAt: [Int] = [50, 80, 95],
        reserve: Int = 0,
        mode: Mode = .enforce
    ) {
        self.name = name
        self.amount = amount
        self.currency = currency
        self.period = period
        self.timeZone = timeZone
        self.regions = regions
        self.channels = channels
        self.purposes = purposes
        self.warnAt = warnAt
        self.reserve = reserve
        self.mode = mode
    }

    func pays(for request: VerificationRequest, to region: Region?) -> Bool {
        pays(for: request.purpose, by: request.channel, to: region)
    }

    /// True if the budget pays for this purpose, channel and region; unknown ones are in none of its lists.
    package func pays(for purpose: Purpose?, by channel: Channel, to region: Region?) -> Bool {
        (regions.map { regions in region?.isNamed(in: regions) ?? false } ?? true)
            && (channels?.contains(channel) ?? true)
            && (purposes.map { purposes in purpose.map(purposes.contains) ?? false } ?? true)
    }

    /// The name of the rule in events and log lines.
    package var rule: String { "budget.\(name)" }
}

package struct BudgetKey: Sendable, Hashable, Comparable {
    package let tenant: String
    package let name: String

    package init(tenant: String, name: String) {
        self.tenant = tenant
        self.name = name
    }

    package static func < (left: BudgetKey, right: BudgetKey) -> Bool {
        (left.tenant, left.name) < (right.tenant, right.name)
    }
}

/// The maximum cost of a request's message, and the budgets that pay for it.
package struct BudgetCharge: Sendable, Equatable {
    package let tenant: String
    package let budgets: [Budget]

    /// Nil if a provider of the route has no price for the message: it may cost any amount, so no budget pays for it.
    package let amount: Money?

    /// True for a person whose number is confirmed, who may spend the reserve.
    package let isConfirmed: Bool

    package init(tenant: String, budgets: [Budget], amount: Money?, isConfirmed: Bool) {
        self.tenant = tenant
        self.budgets = budgets
        self.amount = amount
        self.isConfirmed = isConfirmed
    }

    /// The amount to reserve: twice the price if a message with an unknown outcome is sent again.
    package func amount(repeatsUnknown: Bool) -> Money? { amount.map { repeatsUnknown ? $0 + $0 : $0 } }

    package func key(of budget: Budget) -> BudgetKey { BudgetKey(tenant: tenant, name: budget.name) }
}

extension Policy {
    /// The charge for a request; nil if no budget pays for it or it costs nothing.
    ///
    /// The charge is the highest price of the route's providers, since any of them may take the message.
    func charge(_ request: VerificationRequest, _ tenant: TenantPolicy, to region: Region?) -> BudgetCharge? {
        guard let prices, !tenant.budgets.isEmpty, case .phone(let number) = request.recipient else { return nil }
        let budgets = tenant.budgets.filter { $0.pays(for: request, to: region) }
        if budgets.isEmpty { return nil }
        let segments = tenant.segments(of: request, in: region ?? .unknown)
        let providers = tenant.routes.route(for: request.channel, region: region ?? .unknown).providers
        let costs = providers.map { prices.cost($0, number, region, segments: segments) }
        let known = costs.compactMap(\.self)
        let amount = known.count == costs.count ? known.max() ?? .zero : nil
        if amount == .zero { return nil }
        return BudgetCharge(
            tenant: request.tenant,
            budgets: budgets,
            amount: amount,
            isConfirmed: request.recipientConfirmed
        )
    }

    /// The cost of a message that a provider took; nil without a price.
    package func cost(_ provider: String, _ recipient: Recipient, _ region: Region?, segments: Int?) -> Cost? {
        guard let prices, case .phone(let number) = recipient else { return nil }
        return prices.cost(provider, number, region, segments: segments ?? 1).map { Cost($0, prices.currency) }
    }
}

extension TenantPolicy {
    /// The segments of a request's text, which do not depend on the digits of its code.
    private static let placeholder = "0000000000"

    fileprivate func segments(of request: VerificationRequest, in region: Region) -> Int {
        let text = messages.text(
            Rendering(request, tenant: self),
            region: region,
            code: VerificationCode(fixed: String(Self.placeholder.prefix(code.length))),
            validity: code.validity,
            appName: appName,
            language: defaultLanguage
        )
        return TextEncoding(text.text).segments
    }
}
