// SPDX-License-Identifier: Apache-2.0

import CLibpq
import Glibc

/// Owns one `PGconn`, used by one thread at a time and finished exactly once, even if it never connected.
///
/// The connection is non-blocking, so that every wait has a limit. Waits are for both directions: a large batch can
/// fill both sides while the server waits until its answers are read, so a client that only writes would wait forever.
@safe struct ConnectionHandle: ~Copyable {
    // SAFETY: owned; valid until `deinit`.
    private let pointer: OpaquePointer

    private enum Readiness {
        case ready
        case silent
    }

    /// Connects, blocking the thread.
    ///
    /// Throws `connectionFailed` with libpq's reason, which tells an operator what to fix. If the server's certificate
    /// is at fault, a word for the fault comes first.
    ///
    /// The notice receiver is set before the session starts: a server may send a warning at its start, such as a
    /// collation version mismatch, and libpq would print it on standard error.
    static func connect(_ keywords: ConnectionKeywords) throws(PostgresError) -> ConnectionHandle {
        let pointer = unsafe keywords.withArrays { unsafe PQconnectStartParams($0, $1, 1) }
        guard let pointer = unsafe pointer else { throw PostgresError(.connectionFailed, reason: "out of memory") }
        let handle = unsafe ConnectionHandle(adopting: pointer)
        let isInTime = handle.finishConnecting(within: keywords.timeout, hasOtherHosts: keywords.hasSeveralHosts)
        guard handle.isOpen, unsafe PQsetnonblocking(handle.pointer, 1) == 0 else {
            let text = isInTime ? handle.errorText : "\(handle.place) failed: timeout expired"
            let fault = CertificateFault(text) { keywords.showsOutdatedCertificate() }
            let word = fault.map { "\($0.rawValue): " } ?? ""
            throw PostgresError(.connectionFailed, reason: word + keywords.sanitized(text))
        }
        return handle
    }

    /// Performs the steps of connecting; false when a host exceeds the limit and no other host follows.
    ///
    /// libpq applies no timeout to single steps, and only libpq can move on from a silent host to the next one. So with
    /// several hosts the connection is restarted by `PQreset`, with libpq's own timeouts; it keeps the notice receiver.
    private borrowing func finishConnecting(within limit: Duration?, hasOtherHosts: Bool) -> Bool {
        guard unsafe PQstatus(pointer) != CONNECTION_BAD else { return true }
        var place = ""
        var end: ContinuousClock.Instant?
        var step = PGRES_POLLING_WRITING
        while step != PGRES_POLLING_OK, step != PGRES_POLLING_FAILED {
            if place != self.place {
                place = self.place
                end = limit.map { .now + $0 }
            }
            let rest = end.map { max(.zero, $0 - .now) }
            guard wait(for: step == PGRES_POLLING_READING ? POLLIN : POLLOUT, at: rest) == .ready else {
                guard hasOtherHosts else { return false }
                unsafe PQreset(pointer)
                return true
            }
            step = unsafe PQconnectPoll(pointer)
        }
        return true
    }

    /// The server of the connection attempt, in libpq's words.
    private var place: String {
        let host = unsafe PQhost(pointer).map { unsafe String(cString: $0) } ?? ""
        let address = unsafe PQhostaddr(pointer).map { unsafe String(cString: $0) } ?? ""
        let port = unsafe PQport(pointer).map { unsafe String(cString: $0) } ?? ""
        let shown = address.isEmpty || address == host ? "" : " (\(address))"
        return "connection to server at \"\(host)\"\(shown), port \(port)"
    }

    private init(adopting pointer: OpaquePointer) {
        unsafe self.pointer = unsafe pointer
        // libpq's default receiver prints notices, whose texts echo values.
        unsafe PQsetNoticeReceiver(pointer, { _, _ in }, nil)
    }

    deinit {
        unsafe PQfinish(pointer)
    }

    var isOpen: Bool { unsafe PQstatus(pointer) == CONNECTION_OK }
    var transactionStatus: PGTransactionStatusType { unsafe PQtransactionStatus(pointer) }

    /// The server process id from the start of the connection; a pooler reports one that is not the server's.
    var announcedProcess: Int32 { unsafe PQbackendPID(pointer) }

    /// The value of a setting that the server reports by itself.
    func reported(_ setting: String) -> String? {
        unsafe PQparameterStatus(pointer, setting).map { unsafe String(cString: $0) }
    }

    /// The server's version, as 150006 for 15.6.
    var serverVersion: Int32 { unsafe PQserverVersion(pointer) }

    private var errorText: String { unsafe PQerrorMessage(pointer).map { unsafe String(cString: $0) } ?? "" }

    func enterPipeline() -> Bool { unsafe PQenterPipelineMode(pointer) == 1 }
    func exitPipeline() -> Bool { unsafe PQexitPipelineMode(pointer) == 1 }
    func sendSync() -> Bool { unsafe PQpipelineSync(pointer) == 1 }

    /// Queues a script in the simple protocol.
    func send(script: String) -> Bool { unsafe PQsendQuery(pointer, script) == 1 }

    func prepare(_ statement: Statement, as name: String) -> Bool {
        let types = statement.parameters.map(\.type)
        return unsafe PQsendPrepare(pointer, name, statement.text, Int32(types.count), types) == 1
    }

    /// Queues one statement, by the name under which it was prepared or by its text.
    ///
    /// A validated statement fails only when the connection does.
    func send(_ statement: Statement, named name: String?) -> Bool {
        let parameters = statement.parameters
        let size = parameters.reduce(1) { $0 + ($1.bytes?.count ?? 0) }
        // One block for all values, so that their addresses stay valid during the call; libpq copies them.
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 1)
        defer { unsafe block.deallocate() }
        var offset = 0
        var values: [UnsafePointer<CChar>?] = unsafe []
        for parameter in parameters {
            guard let bytes = parameter.bytes else {
                unsafe values.append(nil)
                continue
            }
            let slice = unsafe UnsafeMutableRawBufferPointer(rebasing: block[offset..<(offset + bytes.count)])
            unsafe slice.copyBytes(from: bytes)
            unsafe values.append(
                block.baseAddress.map { unsafe UnsafePointer(($0 + offset).assumingMemoryBound(to: CChar.self)) }
            )
            offset += bytes.count
        }
        let count = Int32(parameters.count)
        let lengths = parameters.map { Int32(clamping: $0.bytes?.count ?? 0) }
        let formats = [Int32](repeating: 1, count: parameters.count)
        if let name { return unsafe PQsendQueryPrepared(pointer, name, count, values, lengths, formats, 1) == 1 }
        let types = parameters.map(\.type)
        return unsafe PQsendQueryParams(pointer, statement.text, count, types, values, lengths, formats, 1) == 1
    }

    /// Sends queued data, and reads answers meanwhile; false when the server is silent for too long.
    ///
    /// A failed write does not end it: the server's last messages may still be readable.
    func flush(silence: Duration?) -> Bool {
        while unsafe PQflush(pointer) == 1 {
            guard wait(for: POLLIN | POLLOUT, at: silence) == .ready else { return false }
            if unsafe PQconsumeInput(pointer) == 0 { return true }
        }
        return true
    }

    /// The next result; nil at the end of a statement's results.
    ///
    /// A lost connection gives an error result that libpq made. Throws when the server is silent for too long.
    func nextResult(silence: Duration?) throws(PostgresError) -> ResultHandle? {
        // Reading before waiting also drains data that TLS has decrypted already, which `poll` cannot see.
        while unsafe PQisBusy(pointer) == 1, unsafe PQconsumeInput(pointer) == 1, unsafe PQisBusy(pointer) == 1 {
            guard wait(for: POLLIN, at: silence) == .ready else { throw PostgresError(.connectionLost) }
        }
        guard let result = unsafe PQgetResult(pointer) else { return nil }
        return unsafe ResultHandle(adopting: result)
    }

    /// Checks that an idle connection is still open; reads messages that the server sent meanwhile, such as its
    /// shutdown.
    func isAlive() -> Bool {
        var rounds = 0
        while isOpen, rounds < 8, wait(for: POLLIN, at: .zero) == .ready {
            if unsafe PQconsumeInput(pointer) == 0 { return false }
            // Parses the input: parameter changes and notices may arrive at any time.
            if unsafe PQisBusy(pointer) == 1 { return false }
            rounds += 1
        }
        return isOpen
    }

    private func wait(for events: Int32, at silence: Duration?) -> Readiness {
        var descriptor = unsafe pollfd(fd: PQsocket(pointer), events: Int16(events), revents: 0)
        // Do not wait for a closed socket: the next call of libpq reports the cause.
        guard descriptor.fd >= 0 else { return .ready }
        while true {
            let count = unsafe poll(&descriptor, 1, silence?.wholeMilliseconds ?? -1)
            if count > 0 { return .ready }
            if count == 0 { return .silent }
            guard errno == EINTR else { return .ready }
        }
    }
}
