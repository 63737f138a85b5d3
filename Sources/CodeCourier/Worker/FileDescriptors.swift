// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The number of files and connections that the process may have open.
///
/// Systems give a process a soft limit of 1,024 for the sake of programs that use `select`, and Docker does since version
/// 29. A worker has a connection to each provider for every message in flight, so it takes what the hard limit allows.
enum FileDescriptors {
    /// More than a worker ever needs, where the hard limit says that there is none.
    private static let enough: rlim_t = 1 << 20

    /// Raises the soft limit of this process and returns it; nil where the system says none.
    @discardableResult
    static func raiseLimit() -> Int? {
        let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(kind, &limit) == 0 else { return nil }
        let wanted = min(limit.rlim_max, enough)
        if limit.rlim_cur < wanted {
            var raised = limit
            raised.rlim_cur = wanted
            if setrlimit(kind, &raised) == 0 { limit = raised }
        }
        return Int(clamping: limit.rlim_cur)
    }
}
