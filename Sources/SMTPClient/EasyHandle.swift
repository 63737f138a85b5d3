// SPDX-License-Identifier: Apache-2.0

import CLibcurl
import Glibc

/// One transfer of libcurl, used once: a new handle has no connection to reuse, and libcurl retries only on reused
/// ones.
// SAFETY: the pointer is private, made in `init` and freed in `deinit`; a value that cannot be copied is used by one
// thread at a time.
@safe struct EasyHandle: ~Copyable {
    /// libcurl rejected an option: out of memory, or built without a feature.
    struct Refusal: Error {}

    private let pointer: UnsafeMutableRawPointer

    /// libcurl's global initialization, which must happen once in a process.
    private static let start: CURLcode = courier_curl_start()

    init() throws(Refusal) {
        guard Self.start == CURLE_OK, let pointer = unsafe curl_easy_init() else { throw Refusal() }
        unsafe self.pointer = pointer
    }

    deinit {
        unsafe curl_easy_cleanup(pointer)
    }

    borrowing func set(_ option: CURLoption, _ value: Int) throws(Refusal) {
        try Self.check(unsafe courier_curl_set_long(pointer, option, value))
    }

    /// Sets a text, which libcurl copies; nil removes the default.
    borrowing func set(_ option: CURLoption, _ value: String?) throws(Refusal) {
        try Self.check(unsafe courier_curl_set_string(pointer, option, value))
    }

    /// Transfers to one recipient, reporting to `talk`; blocks until the transfer is over.
    borrowing func perform(_ talk: SMTPTalk, to recipient: String) throws(Refusal) -> SMTPFailure? {
        guard let recipients = unsafe curl_slist_append(nil, recipient) else { throw Refusal() }
        // SAFETY: libcurl reads the list until the transfer is over.
        defer { unsafe curl_slist_free_all(recipients) }
        try Self.check(unsafe courier_curl_set_recipients(pointer, recipients))
        // SAFETY: the callbacks run inside of `curl_easy_perform` only, on this thread, while `talk` is kept alive.
        return try withExtendedLifetime(talk) { () throws(Refusal) -> SMTPFailure? in
            let context = unsafe Unmanaged.passUnretained(talk).toOpaque()
            try Self.check(unsafe courier_curl_set_callbacks(pointer, readContent, readTalk, checkProgress, context))
            return unsafe failure(of: curl_easy_perform(pointer))
        }
    }

    private borrowing func failure(of code: CURLcode) -> SMTPFailure? {
        switch code {
        case CURLE_OK: nil
        case CURLE_OPERATION_TIMEDOUT: .timeout
        case CURLE_ABORTED_BY_CALLBACK: .cancelled
        case CURLE_COULDNT_RESOLVE_HOST: .nameNotResolved
        case CURLE_COULDNT_CONNECT:
            unsafe courier_curl_system_error(pointer) == Int(ECONNREFUSED) ? .connectionRefused : .connectionFailed
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER:
            .tlsFailed
        case CURLE_SSL_CACERT_BADFILE: .authorities
        case CURLE_USE_SSL_FAILED: .startTLSUnavailable
        case CURLE_LOGIN_DENIED: .loginDenied
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING: .connectionClosed
        case CURLE_WEIRD_SERVER_REPLY: .malformedAnswer
        case CURLE_URL_MALFORMAT: .invalidAddress
        default: .other
        }
    }

    private static func check(_ code: CURLcode) throws(Refusal) {
        guard code == CURLE_OK else { throw Refusal() }
    }
}

// SAFETY of the three callbacks: `context` is the talk that `perform` keeps alive, and each buffer is valid during the
// call.

private let readContent: curl_read_callback = { buffer, size, count, context in
    guard let buffer = unsafe buffer, let context = unsafe context else { return COURIER_CURL_READ_ABORT }
    let talk = unsafe Unmanaged<SMTPTalk>.fromOpaque(context).takeUnretainedValue()
    let room = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: size * count)
    return unsafe talk.read(into: room) ?? COURIER_CURL_READ_ABORT
}

private let readTalk: curl_debug_callback = { _, kind, text, size, context in
    guard let text = unsafe text, let context = unsafe context else { return 0 }
    let talk = unsafe Unmanaged<SMTPTalk>.fromOpaque(context).takeUnretainedValue()
    let line = unsafe UnsafeRawBufferPointer(start: text, count: size)
    switch kind {
    case CURLINFO_HEADER_OUT: unsafe talk.sent(line)
    case CURLINFO_HEADER_IN: unsafe talk.received(line)
    default: break
    }
    return 0
}

private let checkProgress: curl_xferinfo_callback = { context, _, _, _, _ in
    guard let context = unsafe context else { return 1 }
    return unsafe Unmanaged<SMTPTalk>.fromOpaque(context).takeUnretainedValue().isWanted ? 0 : 1
}
