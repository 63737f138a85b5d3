// SPDX-License-Identifier: Apache-2.0

/// A route that shares messages among its providers by what their codes convert and cost.
package struct AdaptiveRoute: Sendable, Hashable {
    package var providers: [String]

    /// The conversion that a doubled price has to be worth, 0…1.
    ///
    /// 0.05 is the coefficient of Signal's router: twice the price for 5 points of conversion.
    package var costPerDoubling: Double

    /// The least share of a provider in percent, so that one that heals is noticed; less in a busy region, where
    /// `ShareRule.leastObservations` are enough.
    package var floor: Int

    /// The age at which an observation counts half.
    package var halfLife: Duration

    package init(
        providers: [String],
        costPerDoubling: Double = 0.05,
        floor: Int = 1,
        halfLife: Duration = .seconds(6 * 3600)
    ) {
        self.providers = providers
        self.costPerDoubling = costPerDoubling
        self.floor = floor
        self.halfLife = halfLife
    }
}

/// A provider's part of a region's messages, with the reasons for it.
package struct RouteShare: Sendable, Equatable {
    package let provider: String

    /// Of 10,000 messages.
    package let share: Int

    /// The estimated part of first messages whose codes people approve.
    package let conversion: Double

    /// The standard deviation of `conversion`.
    package let deviation: Double

    /// The observations in the region, each by its age.
    package let observations: Double

    /// The time in which the provider counts as silent; nil if it does not.
    package let silence: SilentRoutes.Silence?

    package init(
        provider: String,
        share: Int,
        conversion: Double,
        deviation: Double,
        observations: Double,
        silence: SilentRoutes.Silence? = nil
    ) {
        self.provider = provider
        self.share = share
        self.conversion = conversion
        self.deviation = deviation
        self.observations = observations
        self.silence = silence
    }
}
