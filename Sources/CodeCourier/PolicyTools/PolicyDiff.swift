// SPDX-License-Identifier: Apache-2.0

import Administration
import Formats
import Verification

/// The differences between two policies in their decisions: an entry that decides as before is no change.
struct PolicyDiff {
    /// One part of the policy that decides differently.
    struct Change: Equatable {
        /// Nil for a change that concerns every tenant.
        var tenant: String?

        /// The part in words, such as `limit per recipient`.
        let part: String

        /// The regions that are concerned; empty for all, or where regions play no part.
        var regions: [Region] = []

        /// The old value; nil if there was none.
        var before: String?

        /// The new value; nil if there is none.
        var after: String?

        /// The meaning of the change, such as `stricter`.
        var note: String?

        /// The change in one line, without its tenant and part.
        var words: String {
            let shown = regions.prefix(20).map(\.code).joined(separator: ", ")
            let more = regions.count > 20 ? " and \(regions.count - 20) more" : ""
            let subject = regions.isEmpty ? "" : "\(shown)\(more): "
            return "\(subject)\(before ?? "none") → \(after ?? "none")\(note.map { " (\($0))" } ?? "")"
        }
    }

    let old: Policy
    let new: Policy

    /// The changes for every tenant first, then by tenant, in the order of the decision.
    let changes: [Change]

    /// Compares policies; `leased` is the money leased from the new policy's budgets, as far as it is known.
    init(old: Policy, new: Policy, leased: [LeasedBudget] = []) {
        (self.old, self.new) = (old, new)
        changes = Self.changes(from: old, to: new).map { change in
            let budget = leased.first { $0.key.tenant == change.tenant && change.part == "budget \($0.key.name)" }
            guard let budget, budget.overshoot > .zero else { return change }
            var change = change
            change.note = "\(budget.leased) is leased: up to \(budget.overshoot) more than the amount may be spent"
            return change
        }
    }

    private static func changes(from old: Policy, to new: Policy) -> [Change] {
        var changes: [Change] = []
        let plans = [old, new].map(\.numberPlan.overrides)
        if let change = Change.ofList("number plan corrections", plans[0], plans[1]) { changes.append(change) }
        let prices = [old, new].map { $0.prices?.lines ?? [] }
        if let change = Change.ofList("prices", prices[0], prices[1]) { changes.append(change) }
        for name in Set(old.tenants.keys).union(new.tenants.keys).sorted() {
            switch (old.tenants[name], new.tenants[name]) {
            case (let before?, let after?):
                changes += TenantDiff(old: before, new: after).changes.map { change in
                    var change = change
                    change.tenant = name
                    return change
                }
            case (_?, nil):
                changes.append(Change(tenant: name, part: "tenant", before: "there", note: "requests are refused"))
            default:
                changes.append(Change(tenant: name, part: "tenant", after: "new"))
            }
        }
        return changes
    }

    func lines(files: (old: String, new: String)) -> [String] {
        var lines = ["\(files.old): version \(old.version)", "\(files.new): version \(new.version)"]
        if old.version == new.version, !changes.isEmpty { lines.append("give the new one a version of its own") }
        if changes.isEmpty { return lines + ["", "nothing changes for anybody"] }
        let groups = Dictionary(grouping: changes, by: \.tenant)
        for tenant in groups.keys.sorted(by: { ($0 ?? "") < ($1 ?? "") }) {
            var table = TextTable()
            for change in groups[tenant] ?? [] { table.row(change.part, change.words) }
            lines += ["", tenant.map { "tenant \($0)" } ?? "every tenant"] + table.lines
        }
        return lines
    }

    var json: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("oldVersion", old.version)
            writer.member("newVersion", new.version)
            writer.array("changes") { array in
                for change in changes {
                    array.object { object in
                        object.member("tenant", ifPresent: change.tenant)
                        object.member("part", change.part)
                        if !change.regions.isEmpty {
                            object.array("regions") { regions in
                                for region in change.regions { regions.element(region.code) }
                            }
                        }
                        object.member("before", ifPresent: change.before)
                        object.member("after", ifPresent: change.after)
                        object.member("note", ifPresent: change.note)
                    }
                }
            }
        }
        return writer.bytes
    }
}

extension PolicyDiff.Change {
    /// The change of a list that is described by counts; nil if no element is added or removed.
    static func ofList<Element: Hashable>(_ part: String, _ old: [Element], _ new: [Element]) -> Self? {
        guard old != new else { return nil }
        let (added, removed) = (Set(new).subtracting(old).count, Set(old).subtracting(new).count)
        let note = added + removed == 0 ? "another order" : "\(added) added, \(removed) removed"
        return Self(part: part, before: String(old.count), after: String(new.count), note: note)
    }
}
