// SPDX-License-Identifier: Apache-2.0

import CLibcurl
import Glibc

extension SMTPServer {
    /// Delivers one message over a connection of its own and reports the outcome to the listener.
    ///
    /// The outcome is reported once, or twice with the same value. The call blocks its thread until the session is
    /// over: normally within `deadline`, but up to twice as long when a server replies and then does not end the
    /// session. It blocks SIGPIPE on the thread permanently, since OpenSSL would raise it on a closed connection.
    package func deliver(_ envelope: SMTPEnvelope, within deadline: Duration, listener: some SMTPListener) {
        Self.blockBrokenPipeSignal()
        let talk = SMTPTalk(envelope, listener: listener)
        do {
            let handle = try EasyHandle()
            try configure(handle, within: deadline)
            try handle.set(CURLOPT_MAIL_FROM, "<\(envelope.sender)>")
            let failure = try handle.perform(talk, to: "<\(envelope.recipient)>")
            listener.settled(talk.result(failure))
        } catch {
            listener.settled(talk.result(.other))
        }
    }

    private func configure(_ handle: borrowing EasyHandle, within deadline: Duration) throws(EasyHandle.Refusal) {
        let milliseconds = Self.milliseconds(deadline)
        try handle.set(CURLOPT_URL, url)
        try handle.set(CURLOPT_PROTOCOLS_STR, "smtp,smtps")
        // An empty proxy prevents the use of the environment's.
        try handle.set(CURLOPT_PROXY, "")
        try handle.set(CURLOPT_NOSIGNAL, 1)
        // The deadline must hold even when a name server does not answer.
        try handle.set(CURLOPT_QUICK_EXIT, 1)
        try handle.set(CURLOPT_TIMEOUT_MS, milliseconds)
        try handle.set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds)
        try handle.set(CURLOPT_SERVER_RESPONSE_TIMEOUT, (milliseconds + 999) / 1000)
        try handle.set(CURLOPT_FRESH_CONNECT, 1)
        try handle.set(CURLOPT_FORBID_REUSE, 1)
        try handle.set(CURLOPT_UPLOAD, 1)
        // Verbose output goes only to the callback of `SMTPTalk`.
        try handle.set(CURLOPT_VERBOSE, 1)
        try handle.set(CURLOPT_NOPROGRESS, 0)
        try secure(handle)
        if let login {
            try handle.set(CURLOPT_USERNAME, login.username)
            try handle.set(CURLOPT_PASSWORD, login.password)
            try handle.set(CURLOPT_LOGIN_OPTIONS, "AUTH=PLAIN;AUTH=LOGIN")
        }
    }

    private func secure(_ handle: borrowing EasyHandle) throws(EasyHandle.Refusal) {
        guard encryption != .none else { return }
        try handle.set(CURLOPT_USE_SSL, Int(CURLUSESSL_ALL.rawValue))
        try handle.set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        try handle.set(CURLOPT_SSL_VERIFYPEER, 1)
        try handle.set(CURLOPT_SSL_VERIFYHOST, 2)
        if let authorities {
            try handle.set(CURLOPT_CAINFO, authorities)
            // Without this the system's folder of authorities would be trusted as well.
            try handle.set(CURLOPT_CAPATH, nil)
        }
    }

    /// Milliseconds, rounded up, at most an hour; never 0, which libcurl takes for no limit.
    private static func milliseconds(_ duration: Duration) -> Int {
        let parts = min(max(duration, .zero), .seconds(3600)).components
        return Int(parts.seconds) * 1000 + Int(parts.attoseconds / 1_000_000_000_000_000) + 1
    }

    private static func blockBrokenPipeSignal() {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGPIPE)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
}
