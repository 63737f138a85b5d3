// SPDX-License-Identifier: Apache-2.0

import NIOSSL
import Synchronization

/// Holds the client of a team, and replaces it when it is old or its file of authorities has changed.
///
/// The addresses behind Apple's names change, so a client has a maximum age. Apple demands long-lived connections and
/// treats frequent new ones as an attack, so they live longer than those of other providers. While the file cannot be
/// read, the authorities read before stay in force.
final class PushClients: Sendable {
    private struct Current {
        let client: PushClient
        let since: ContinuousClock.Instant
        let stamp: FileStamp?
    }

    private let authorities: String?
    private let proxy: ProxyAddress?
    private let greatestAge: Duration
    private let state = Mutex<Current?>(nil)

    /// Creates clients that trust the authorities of a PEM file, or those of the system.
    init(authorities: String?, proxy: ProxyAddress?, greatestAge: Duration) {
        self.authorities = authorities
        self.proxy = proxy
        self.greatestAge = greatestAge
    }

    /// The client for a call that begins now; a replaced client lives until its last call ends.
    func current() -> PushClient {
        let stamp = FileStamp(ofAuthorities: authorities)
        return state.withLock { state in
            if let held = state, held.since + greatestAge > .now, stamp == nil || stamp == held.stamp {
                return held.client
            }
            let certificates = authorities.map { (try? NIOSSLCertificate.fromPEMFile($0)) ?? [] }
            if let held = state, certificates?.isEmpty == true { return held.client }
            // With an empty list the client trusts no server.
            let client = PushClient(trusting: certificates.map { .certificates($0) }, proxy: proxy)
            state = Current(client: client, since: .now, stamp: stamp)
            return client
        }
    }
}
