// SPDX-License-Identifier: Apache-2.0

import Formats
import Synchronization
import Verification

/// The parcels that this worker claimed, each a lease on sends, with their open claims.
///
/// A parcel is deleted when its last claim ends. Sweeps claim the remaining sends after the lease has expired.
final class OpenParcels: Sendable {
    private struct Parcel {
        let sends: [SendID]
        var end: ContinuousClock.Instant
        var left: Int
    }

    private struct State {
        var parcels: [UUIDValue: Parcel] = [:]

        /// The parcel of each claimed send, with the claim's fence.
        var places: [SendID: (parcel: UUIDValue, fence: Int32)] = [:]

        func parcel(of claim: SendReference) -> UUIDValue? {
            guard let place = places[claim.id], place.fence == claim.fence else { return nil }
            return place.parcel
        }

        mutating func forget(_ id: UUIDValue) {
            guard let parcel = parcels.removeValue(forKey: id) else { return }
            for send in parcel.sends where places[send]?.parcel == id { places[send] = nil }
        }
    }

    private let state = Mutex(State())

    func add(_ id: UUIDValue, _ claims: [SendReference], lease: Duration, now: ContinuousClock.Instant = .now) {
        state.withLock { state in
            // Claims whose results the database rejects never end here: forget their parcels, since sweeps claim the
            // sends.
            for id in state.parcels.filter({ $0.value.end < now }).keys { state.forget(id) }
            state.parcels[id] = Parcel(sends: claims.map(\.id), end: now + lease * 2, left: claims.count)
            for claim in claims { state.places[claim.id] = (id, claim.fence) }
        }
    }

    /// The parcel of each claim; nil for a claim that this worker no longer holds.
    func parcels(of claims: [SendReference]) -> [UUIDValue?] {
        state.withLock { state in claims.map(state.parcel) }
    }

    /// The parcels that have no claim left after these claims end.
    func emptied(by claims: [SendReference]) -> [UUIDValue] {
        state.withLock { state in
            var ends: [UUIDValue: Int] = [:]
            for claim in claims {
                if let id = state.parcel(of: claim) { ends[id, default: 0] += 1 }
            }
            // Includes parcels that have none left already: concurrent transactions ended their last claims.
            return state.parcels.filter { $0.value.left == ends[$0.key, default: 0] }.map(\.key)
        }
    }

    func extend(_ ids: some Sequence<UUIDValue>, lease: Duration, now: ContinuousClock.Instant = .now) {
        state.withLock { state in
            for id in ids { state.parcels[id]?.end = now + lease * 2 }
        }
    }

    /// Records claims that have ended, and parcels that are deleted.
    func end(_ claims: [SendReference], deleted: [UUIDValue]) {
        state.withLock { state in
            for claim in claims {
                guard let id = state.parcel(of: claim) else { continue }
                state.places[claim.id] = nil
                state.parcels[id]?.left -= 1
            }
            for id in deleted { state.forget(id) }
        }
    }
}
