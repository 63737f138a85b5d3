// SPDX-License-Identifier: Apache-2.0

import CLibpq
import Glibc

/// One `PGconn`, used by one thread at a time and finished exactly once, also when it never connected.
///
/// It is non-blocking, so that every wait has a limit. Waits are for both directions: a large batch can fill both sides
/// while the server waits for its answers to be read, and a client that only writes waits for ever.
@safe struct ConnectionHandle: ~Copyable {
    // SAFETY: owned; valid until `deinit`.
    private let pointer: OpaquePointer

    private enum Readiness {
        case ready
        case silent
    }

    /// Connects, blocking the thread.
    ///
    /// Throws `connectionFailed` with libpq's reason, which says what an operator has to mend; a word of ours stands before it
    /// where the server's certificate is at fault.
    ///
    /// A server warns while it lets a session in, as of a collation's version: the receiver of notices is set before, or
    /// libpq prints the warning on standard error.
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

    /// Goes through the steps of a connection; false when a host without another behind it takes too long.
    ///
    /// libpq bounds no step that is taken one by one. Only libpq can leave a host that is silent for the next one, so with
    /// several of them the whole is begun anew with its own limits, which keeps the receiver of notices.
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

    /// The server that is being connected to, in libpq's words.
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

    /// The process that the other side named at the connection's start: a pooler names one that is none of the server's.
    var announcedProcess: Int32 { unsafe PQbackendPID(pointer) }

    /// The value of a setting that the server reports without being asked.
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

    /// Queues the preparation of a statement under a name.
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
        // One block for all values, so that their addresses hold during the call; libpq copies them.
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

    /// Hands what is queued to the system, taking in answers meanwhile; false when the server is silent too long.
    ///
    /// A failed write is no end: the server's last words may still be read.
    func flush(silence: Duration?) -> Bool {
        while unsafe PQflush(pointer) == 1 {
            guard wait(for: POLLIN | POLLOUT, at: silence) == .ready else { return false }
            if unsafe PQconsumeInput(pointer) == 0 { return true }
        }
        return true
    }

    /// The next result, nil at the end of a statement's results.
    ///
    /// A lost connection gives an error result that no server wrote; a server silent for too long throws.
    func nextResult(silence: Duration?) throws(PostgresError) -> ResultHandle? {
        // Reading before waiting also drains what TLS holds decrypted, which `poll` cannot see.
        while unsafe PQisBusy(pointer) == 1, unsafe PQconsumeInput(pointer) == 1, unsafe PQisBusy(pointer) == 1 {
            guard wait(for: POLLIN, at: silence) == .ready else { throw PostgresError(.connectionLost) }
        }
        guard let result = unsafe PQgetResult(pointer) else { return nil }
        return unsafe ResultHandle(adopting: result)
    }

    /// Whether an idle connection still stands: takes in what the server said meanwhile, such as its goodbye.
    func isAlive() -> Bool {
        var rounds = 0
        while isOpen, rounds < 8, wait(for: POLLIN, at: .zero) == .ready {
            if unsafe PQconsumeInput(pointer) == 0 { return false }
            // Parses what was read: the parameter changes and notices that may come at any time.
            if unsafe PQisBusy(pointer) == 1 { return false }
            rounds += 1
        }
        return isOpen
    }

    private func wait(for events: Int32, at silence: Duration?) -> Readiness {
        var descriptor = unsafe pollfd(fd: PQsocket(pointer), events: Int16(events), revents: 0)
        // A closed socket is never waited for: libpq says at the next call what happened.
        guard descriptor.fd >= 0 else { return .ready }
        while true {
            let count = unsafe poll(&descriptor, 1, silence?.wholeMilliseconds ?? -1)
            if count > 0 { return .ready }
            if count == 0 { return .silent }
            guard errno == EINTR else { return .ready }
        }
    }
}
