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

    /// One of its providers alone; empty where it does not name that one.
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
