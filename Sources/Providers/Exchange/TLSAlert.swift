// SPDX-License-Identifier: Apache-2.0

import NIOSSL

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
