// SPDX-License-Identifier: Apache-2.0

import Administration
import Formats
import SettingsReading
import Verification

/// The name of a tenant on a command line.
enum TenantArgument {
    /// The fault of a name that is not among those that a place knows.
    static func fault(_ name: String, among known: some Collection<String>, of place: String) -> String {
        let known = known.sorted()
        let more = known.count > 10 ? ", …" : ""
        let nearest = NearestKey.of(name, among: known)
        let names = known.prefix(10).joined(separator: ", ")
        let advice = nearest.map { "did you mean \($0)?" } ?? "known: \(names)\(more)"
        return "--tenant: \(place) has no tenant \(name.printable); \(advice)"
    }
}

extension OperatorDatabaseOptions {
    /// Throws for a tenant that the policy does not have, since no request would ever meet the order.
    ///
    /// Without a readable policy the tenants that the database knows stand in for it.
    func checkTenant(_ name: String, at desk: BrakeDesk) async throws {
        if let known = tenantsOfPolicy {
            if known.contains(name) { return }
            throw StartFailure.report([TenantArgument.fault(name, among: known, of: "the policy")])
        }
        let known = try await desk.tenants()
        if known.contains(name) { return }
        if known.isEmpty {
            return printError("warning: no policy is at hand to say whether there is a tenant \(name.printable)")
        }
        let fault = TenantArgument.fault(name, among: known, of: "the database")
        throw StartFailure.report([fault + "; if it is new, set policy.path in --config"])
    }

    /// The tenants of the configuration's policy; nil if there is none that can be read.
    private var tenantsOfPolicy: [String]? {
        let read = PolicySettings.load(path: options.config, environment: options.environment)
        guard case .success(let settings) = read, let path = settings.policyPath,
            case .success(let policy) = PolicyFile.load(path: path, providers: settings.providers)
        else { return nil }
        return Array(policy.tenants.keys)
    }
}
