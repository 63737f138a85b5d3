// SPDX-License-Identifier: Apache-2.0

/// One claim of a send, distinct from later claims of the same send, also by the same worker.
package struct SendClaim: Sendable, Hashable {
    package let send: SendID
    package let fence: Int32

    package init(_ send: SendID, fence: Int32) {
        self.send = send
        self.fence = fence
    }
}

extension SendReference {
    package var claim: SendClaim { SendClaim(id, fence: fence) }
}

extension ClaimedSend {
    package var claim: SendClaim { reference.claim }
}
