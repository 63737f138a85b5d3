// SPDX-License-Identifier: Apache-2.0

import SettingsReading
import Verification

/// Reads the routes of a tenant: its providers in order, by weight or adaptive.
struct RoutesReader {
    /// The configured providers with their channels; nil when they are unknown.
    let providers: [String: Channel]?

    static func read(_ value: YAMLValue, providers: [String: Channel]?) -> Routes? {
        guard let mapping = value.mapping(keys: ["default", "regions", "email", "apns", "onOptOut"]) else { return nil }
        let reader = Self(providers: providers)
        var routes = Routes(fallback: [])
        routes.email = mapping["email"].map { reader.route($0, .email) } ?? []
        routes.push = mapping["apns"].map { reader.route($0, .apns) } ?? []
        routes.onOptOut = mapping.read("onOptOut", .choice, default: .stop)
        routes.regions = mapping["regions"].map(reader.regions) ?? [:]
        // A tenant may use no text messages at all, but not only in some regions.
        let isWithoutText = mapping["regions"] == nil && (mapping["email"] != nil || mapping["apns"] != nil)
        if isWithoutText, mapping["default"] == nil, !mapping.misspelt.contains("default") { return routes }
        guard let fallback = mapping.required("default", such: "[main]") else { return nil }
        routes.fallback = reader.route(fallback, .sms)
        return routes
    }

    private func regions(_ value: YAMLValue) -> [Region: Route] {
        let entries = value.entries(.region, called: "a region") ?? []
        return Dictionary(entries.map { ($0.key, route($0.value, .sms)) }) { first, _ in first }
    }

    private func route(_ value: YAMLValue, _ channel: Channel) -> Route {
        if value.isMapping { return adaptive(value, channel) }
        if value.isEmptyList { value.fault("must name at least one provider") }
        let elements = value.list(of: "providers") ?? []
        let weighted = elements.filter(\.isMapping).count
        guard weighted == 0 || weighted == elements.count else {
            value.fault("must be all names or all weighted, such as [{ provider: main, weight: 70 }, …]")
            return []
        }
        var shares: [Route.Share] = []
        for element in elements {
            guard let share = weighted == 0 ? name(element).map({ ($0, 1) }) : share(element) else { continue }
            let (name, weight) = share
            if shares.contains(where: { $0.provider == name }) { element.fault("names \(name) again; keep one") }
            check(name, serves: channel, element)
            shares.append(Route.Share(provider: name, weight: weight))
        }
        return weighted == 0 ? .ordered(shares.map(\.provider)) : .weighted(shares)
    }

    /// A route whose shares follow conversions; only codes of text messages are counted.
    private func adaptive(_ value: YAMLValue, _ channel: Channel) -> Route {
        let keys = ["adaptive", "costPerDoubling", "floor", "halfLife"]
        guard let mapping = value.mapping(keys: keys) else { return [] }
        guard channel == .sms else {
            value.fault("can be adaptive for text messages alone; name providers in order, such as [main]")
            return []
        }
        guard let list = mapping.required("adaptive", such: "[main, backup]") else { return [] }
        var providers: [String] = []
        for element in list.list(of: "providers") ?? [] {
            guard let name = name(element) else { continue }
            if providers.contains(name) { element.fault("names \(name) again; keep one") }
            check(name, serves: channel, element)
            providers.append(name)
        }
        if !(2...20).contains(providers.count) { list.fault("must name 2 to 20 providers, which share the messages") }
        let standard = AdaptiveRoute(providers: providers)
        let longest = Duration.seconds(7 * 86_400)
        return .adaptive(
            AdaptiveRoute(
                providers: providers,
                costPerDoubling: mapping.read(
                    "costPerDoubling",
                    .number(in: 0...1),
                    default: standard.costPerDoubling
                ),
                floor: mapping.read("floor", .integer(in: 0...5), default: standard.floor),
                halfLife: mapping.read(
                    "halfLife",
                    .duration(in: .seconds(1800)...longest),
                    default: standard.halfLife
                )
            )
        )
    }

    private func name(_ value: YAMLValue) -> String? {
        value.read(.name(upTo: 64))
    }

    private func share(_ value: YAMLValue) -> (String, Int)? {
        guard let mapping = value.mapping(keys: ["provider", "weight"]) else { return nil }
        let provider = mapping.required("provider", such: "main").flatMap(name)
        let weight = mapping.required("weight", such: "70")?.read(.integer(in: 1...100))
        guard let provider, let weight else { return nil }
        return (provider, weight)
    }

    private func check(_ name: String, serves channel: Channel, _ value: YAMLValue) {
        guard let providers else { return }
        let fitting = providers.filter { $0.value == channel }.keys.sorted()
        let advice = fitting.isEmpty ? "" : "; there are \(fitting.joined(separator: ", "))"
        switch providers[name] {
        case channel: break
        case nil: value.fault("names \(name), which is no configured provider\(advice)")
        case let other?:
            value.fault("names \(name), which serves \(other.rawValue) and not \(channel.rawValue)\(advice)")
        }
    }
}
