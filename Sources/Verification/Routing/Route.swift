// SPDX-License-Identifier: Apache-2.0

/// The providers that may take a message: in a fixed order, or drawn by weight.
package enum Route: Sendable, Hashable {
    /// The next one is asked when one surely did not take the message.
    case ordered([String])

    /// Each send draws its order: a provider of weight 70 comes first in 70 of 100 sends when the weights add up to 100.
    case weighted([Share])

    package struct Share: Sendable, Hashable {
        package let provider: String

        /// 1 to 100, relative to the others of the route.
        package let weight: Int

        package init(provider: String, weight: Int) {
            self.provider = provider
            self.weight = weight
        }
    }

    /// The names, as the policy lists them.
    package var providers: [String] {
        switch self {
        case .ordered(let names): names
        case .weighted(let shares): shares.map(\.provider)
        }
    }

    package var isEmpty: Bool { providers.isEmpty }
}

extension Route: ExpressibleByArrayLiteral {
    package init(arrayLiteral names: String...) {
        self = .ordered(names)
    }
}
