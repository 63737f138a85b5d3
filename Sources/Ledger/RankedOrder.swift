// SPDX-License-Identifier: Apache-2.0

import Verification

extension Array {
    /// The elements in the order of their keys.
    ///
    /// Nearly always the keys' ranks decide, so that only those are compared and moved.
    func sortedByKey(_ key: (Element) -> some RankedKey) -> [Element] {
        var places = indices.map { (rank: key(self[$0]).rank, place: $0) }
        places.sort { one, other in
            one.rank == other.rank ? key(self[one.place]) < key(self[other.place]) : one.rank < other.rank
        }
        return places.map { self[$0.place] }
    }
}
