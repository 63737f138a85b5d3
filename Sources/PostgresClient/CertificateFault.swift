// SPDX-License-Identifier: Apache-2.0

import CLibpq
import Glibc

/// The cause of a rejected server certificate: libpq reports an expired one and an untrusted one with the same text.
enum CertificateFault: String {
    case expired = "certificate_expired"
    case untrusted = "certificate_untrusted"
    case otherHost = "host_name_mismatch"

    /// Finds the fault in libpq's text; `isOutdated` is called where only the certificate itself can decide.
    init?(_ text: String, isOutdated: () -> Bool) {
        if text.contains("certificate verify failed") {
            self = isOutdated() ? .expired : .untrusted
        } else if text.contains("does not match host name") || text.contains("get server's host name from server") {
            self = .otherHost
        } else {
            return nil
        }
    }
}

extension ConnectionKeywords {
    /// True when the server's certificate has expired, or is not valid yet.
    ///
    /// Opens a second connection, which verifies nothing and is closed after the TLS handshake, before the startup
    /// packet: neither the user nor a password is sent.
    func showsOutdatedCertificate(within time: Duration = .seconds(5)) -> Bool {
        var unverified = self
        // With a root certificate file that does not exist, libpq skips the verification.
        unverified.pairs += [
            (keyword: "sslmode", value: "require"), (keyword: "sslrootcert", value: "/dev/null/none"),
            (keyword: "gssencmode", value: "disable"),
        ]
        let started = unsafe unverified.withArrays { unsafe PQconnectStartParams($0, $1, 1) }
        guard let connection = unsafe started else { return false }
        // SAFETY: the objects are this function's own until it frees them; OpenSSL only reads them before that.
        defer { unsafe PQfinish(connection) }
        let end = ContinuousClock.now + time
        // As libpq documents for the first step: as if `PQconnectPoll` had returned `PGRES_POLLING_WRITING`.
        var events = POLLOUT
        while ContinuousClock.now < end {
            var descriptor = unsafe pollfd(fd: PQsocket(connection), events: Int16(events), revents: 0)
            guard descriptor.fd >= 0, unsafe poll(&descriptor, 1, (end - .now).wholeMilliseconds) > 0 else {
                return false
            }
            let step = unsafe PQconnectPoll(connection)
            // TLS is established, and nothing was sent through it.
            if unsafe PQstatus(connection) == CONNECTION_MADE, unsafe PQsslInUse(connection) == 1 {
                return unsafe courier_chain_is_outdated(PQsslStruct(connection, "OpenSSL")) == 1
            }
            switch step {
            case PGRES_POLLING_READING: events = POLLIN
            case PGRES_POLLING_WRITING: events = POLLOUT
            default: return false
            }
        }
        return false
    }
}
