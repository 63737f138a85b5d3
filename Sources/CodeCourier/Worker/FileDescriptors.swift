// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The process's limit of open files and connections.
///
/// Systems set a soft limit of 1,024 for programs that use `select`, and so does Docker since version 29. A worker has
/// a provider connection for every message in flight, so it raises the limit to the hard limit.
enum FileDescriptors {
    /// The limit when the hard limit is infinite: more than a worker ever needs.
    private static let enough: rlim_t = 1 << 20

    /// Raises the soft limit of this process and returns it; nil when the system does not report one.
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
