// SPDX-License-Identifier: Apache-2.0

/// The providers that may take a message: in a fixed order, or drawn by weight.
package enum Route: Sendable, Hashable {
    /// The next provider is called when the previous one surely did not take the message.
    case ordered([String])

    /// Each send draws an order: with weights that sum to 100, a provider of weight 70 is first in 70 % of the sends.
    case weighted([Share])

    package struct Share: Sendable, Hashable {
        package let provider: String

        /// 1 to 100, relative to the other weights of the route.
        package let weight: Int

        package init(provider: String, weight: Int) {
            self.provider = provider
            self.weight = weight
        }
    }

    package var providers: [String] {
        switch self {
        case .ordered(let names): names
        case .weighted(let shares): shares.map(\.provider)
        }
    }

    package var isEmpty: Bool { providers.isEmpty }

    /// The route reduced to one of its providers; empty if the route does not have it.
    package func only(_ provider: String) -> Route {
        switch self {
        case .ordered(let names): .ordered(names.filter { $0 == provider })
        case .weighted(let shares): .weighted(shares.filter { $0.provider == provider })
        }
    }
}

extension Route: ExpressibleByArrayLiteral {
    package init(arrayLiteral names: String...) {
        self = .ordered(names)
    }
}
