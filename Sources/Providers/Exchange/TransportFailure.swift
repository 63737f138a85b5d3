// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Glibc
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL

/// The cause of an exchange without a complete answer, as the constant in events and logs.
///
/// It informs an operator. The gate, not the cause, decides whether the message may have been sent.
enum TransportFailure: String, Sendable, CaseIterable {
    case timeout

    /// The message's `leaveBy` passed before it was sent.
    case tooLate = "too_late"
    case cancelled
    case nameNotResolved = "name_not_resolved"
    case connectionRefused = "connection_refused"
    case connectTimeout = "connect_timeout"
    case connectionFailed = "connection_failed"
    case poolTimeout = "pool_timeout"
    case tlsFailed = "tls_failed"

    /// The peer ended TLS before it read anything, for example because it rejects our certificate.
    case tlsRefused = "tls_refused"
    case connectionClosed = "connection_closed"
    case malformedAnswer = "malformed_answer"
    case answerTooLarge = "answer_too_large"
    case invalidURL = "invalid_url"
    case clientShutDown = "client_shut_down"
    case proxyRefused = "proxy_refused"

    /// This process or this machine has no file descriptor left for a connection.
    case tooManyFiles = "too_many_open_files"
    case streamRefused = "stream_refused"
    case transport = "transport_error"

    init(_ error: any Error) {
        switch error {
        case is CancellationError: self = .cancelled
        case is BodyGate.Closed: self = .tooLate
        case is TunnelRequest.Refused: self = .proxyRefused
        case let error as HTTPClientError: self = Self.cause(of: error)
        case let error as NIOConnectionError: self = Self.cause(of: error)
        case let error as IOError: self = Self.cause(of: error)
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError:
            self = TLSAlert.provesNothingRead(error) ? .tlsRefused : .tlsFailed
        case is HTTPParserError: self = .malformedAnswer
        case is NIOTooManyBytesError: self = .answerTooLarge
        case let error as NIOHTTP2Errors.StreamClosed: self = Self.cause(of: error)
        case ChannelError.connectTimeout: self = .connectTimeout
        case is ChannelError: self = .connectionClosed
        default: self = .transport
        }
    }

    /// True when the peer itself states that it did not process the request, even if all of it arrived.
    ///
    /// HTTP/2 guarantees that for a refused stream, and for one that a GOAWAY leaves out (RFC 9113, section 8.7). An
    /// alert of the TLS handshake may come after our request: with TLS 1.3 a client completes the handshake before the
    /// server has verified the client's certificate (RFC 8446, section 4.4.2.4). A connection that is reset without an
    /// alert proves nothing: a server that accepted the certificate, read the request and then crashed looks the same.
    var provesNotProcessed: Bool { self == .streamRefused || self == .tlsRefused }

    private static func cause(of error: NIOHTTP2Errors.StreamClosed) -> TransportFailure {
        error.errorCode == .refusedStream ? .streamRefused : .connectionClosed
    }

    private static func cause(of error: HTTPClientError) -> TransportFailure {
        switch error {
        case .invalidURL, .emptyHost, .emptyScheme, .missingSocketPath: .invalidURL
        case _ where error.shortDescription == HTTPClientError.unsupportedScheme("").shortDescription: .invalidURL
        case .alreadyShutdown: .clientShutDown
        case .cancelled, .requestStreamCancelled: .cancelled
        case .connectTimeout: .connectTimeout
        case .getConnectionFromPoolTimeout: .poolTimeout
        case .tlsHandshakeTimeout: .tlsFailed
        case .remoteConnectionClosed, .uncleanShutdown: .connectionClosed
        case .deadlineExceeded, .readTimeout, .writeTimeout: .timeout
        default: .transport
        }
    }

    private static func cause(of error: NIOConnectionError) -> TransportFailure {
        guard let failure = error.connectionErrors.last else { return .nameNotResolved }
        let cause = TransportFailure(failure.error)
        return cause == .connectionClosed || cause == .transport ? .connectionFailed : cause
    }

    private static func cause(of error: IOError) -> TransportFailure {
        switch error.errnoCode {
        case ECONNREFUSED: .connectionRefused
        case ECONNRESET, EPIPE, ENOTCONN, ECONNABORTED: .connectionClosed
        case ETIMEDOUT: .timeout
        case EHOSTUNREACH, ENETUNREACH, EADDRNOTAVAIL: .connectionFailed
        case EMFILE, ENFILE: .tooManyFiles
        default: .transport
        }
    }
}

/// Recognizes the alerts with which a peer ends TLS.
enum TLSAlert {
    /// True for an alert of the handshake, after which the peer has read no request.
    ///
    /// A server processes no data before it has verified the client's last flight, and these alerts state that the
    /// verification failed (RFC 8446, section 6.2). Alerts that may come at any time, such as `internal_error` and
    /// `unexpected_message`, prove nothing.
    static func provesNothingRead(_ error: any Error) -> Bool {
        switch error {
        case BoringSSLError.sslError(let causes): causes.contains { isOfHandshake("\($0)") }
        case let error as NIOSSLError:
            if case .handshakeFailed(let cause) = error { provesNothingRead(cause) } else { false }
        default: false
        }
    }

    /// Finds the alert in BoringSSL's reason, its only trace: a name such as `TLSV1_ALERT_CERTIFICATE_REQUIRED`.
    static func isOfHandshake(_ description: String) -> Bool {
        guard let alert = description.firstRange(of: "_ALERT_") else { return false }
        let name = description[alert.upperBound...].prefix { $0.isASCII && ($0.isLetter || $0 == "_") }
        return ofHandshake.contains(String(name))
    }

    private static let ofHandshake: Set = [
        "ACCESS_DENIED", "BAD_CERTIFICATE", "BAD_CERTIFICATE_HASH_VALUE", "BAD_CERTIFICATE_STATUS_RESPONSE",
        "CERTIFICATE_EXPIRED", "CERTIFICATE_REQUIRED", "CERTIFICATE_REVOKED", "CERTIFICATE_UNKNOWN",
        "CERTIFICATE_UNOBTAINABLE", "DECRYPT_ERROR", "ECH_REQUIRED", "EXPORT_RESTRICTION",
        "HANDSHAKE_FAILURE", "INAPPROPRIATE_FALLBACK", "INSUFFICIENT_SECURITY",
        "NO_APPLICATION_PROTOCOL", "NO_CERTIFICATE", "PROTOCOL_VERSION", "UNKNOWN_CA",
        "UNKNOWN_PSK_IDENTITY", "UNRECOGNIZED_NAME", "UNSUPPORTED_CERTIFICATE", "UNSUPPORTED_EXTENSION",
    ]
}
