// SPDX-License-Identifier: Apache-2.0

import CLibpq
import Glibc

/// Why a server's certificate was refused: libpq says the same of one that is over and of one that nobody trusts.
enum CertificateFault: String {
    case expired = "certificate_expired"
    case untrusted = "certificate_untrusted"
    case otherHost = "host_name_mismatch"

    /// The fault that libpq's text tells, if it tells one; `isOutdated` is asked where only the certificate can say.
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
    /// Whether the server shows a certificate whose time is over, or has not begun.
    ///
    /// Asked of a second connection, which verifies nothing and ends before the program has said who it is: neither the
    /// user nor a password leaves.
    func showsOutdatedCertificate(within time: Duration = .seconds(5)) -> Bool {
        var unverified = self
        // A file that is not there is none to verify by.
        unverified.pairs += [
            (keyword: "sslmode", value: "require"), (keyword: "sslrootcert", value: "/dev/null/none"),
            (keyword: "gssencmode", value: "disable"),
        ]
        let started = unsafe unverified.withArrays { unsafe PQconnectStartParams($0, $1, 1) }
        guard let connection = unsafe started else { return false }
        // SAFETY: ours until it is finished here; what OpenSSL holds of it is only read before that.
        defer { unsafe PQfinish(connection) }
        let end = ContinuousClock.now + time
        // As libpq wants it: as if the last step had asked to write.
        var events = POLLOUT
        while ContinuousClock.now < end {
            var descriptor = unsafe pollfd(fd: PQsocket(connection), events: Int16(events), revents: 0)
            guard descriptor.fd >= 0, unsafe poll(&descriptor, 1, (end - .now).wholeMilliseconds) > 0 else {
                return false
            }
            let step = unsafe PQconnectPoll(connection)
            // TLS stands, and nothing was sent through it.
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
