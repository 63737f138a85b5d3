// SPDX-License-Identifier: Apache-2.0

import CLibrdkafka
import Synchronization

/// The parts of librdkafka's text about a connection that may be shown: the broker and a fixed word.
///
/// The library has no code for a refused connection or an untrusted certificate; only its text has phrases for them.
/// Version 2.16 gives no cause for a listener that closes the connection, where 2.0 guessed one. The rest of the text
/// is dropped, since it quotes the brokers' answers.
struct ConnectionFault: Equatable {
    /// Nil when the text has no known phrase.
    let reason: KafkaError.Reason?

    /// The broker as `host:port`; nil when the text does not begin with one.
    let broker: String?

    init(text: String, code: KafkaError.Code) {
        broker = Self.broker(in: text)
        guard Self.codes.contains(code) else {
            reason = nil
            return
        }
        // Skip the broker's name, which its owner may choose to look like a phrase.
        let words = text.drop { $0 != " " }
        let found = Self.phrases.first { words.contains($0.phrase) }?.reason
        reason = found == .certificateUntrusted ? broker.flatMap { CertificateFaults.reason(at: $0) } ?? found : found
    }

    /// The codes whose texts are about connections.
    private static let codes: Set<KafkaError.Code> = [.authentication, .badMessage, .ssl, .timedOut, .transport]

    /// Phrases of librdkafka, OpenSSL and the C library, the most specific ones first.
    private static let phrases: [(phrase: String, reason: KafkaError.Reason)] = [
        ("Connection refused", .connectionRefused),
        ("No route to host", .networkUnreachable),
        ("Network is unreachable", .networkUnreachable),
        ("certificate verify failed", .certificateUntrusted),
        ("Failed to verify broker certificate", .certificateUntrusted),
        ("client SSL authentication might be required", .clientCertificateRequired),
        ("certificate required", .clientCertificateRequired),
        ("alert bad certificate", .clientCertificateRefused),
        ("alert certificate unknown", .clientCertificateRefused),
        ("alert certificate expired", .clientCertificateRefused),
        ("alert unknown ca", .clientCertificateRefused),
        ("mechanism handshake failed", .mechanismUnsupported),
        ("connecting to a SSL listener?", .protocolMismatch),
        ("connecting to a PLAINTEXT broker listener?", .protocolMismatch),
        ("broker might require SASL authentication", .protocolMismatch),
        ("wrong version number", .protocolMismatch),
        ("alert protocol version", .protocolMismatch),
        ("packet length too long", .protocolMismatch),
        ("Invalid response size", .protocolMismatch),
        ("Invalid frame size", .protocolMismatch),
        ("timed out", .timedOut),
    ]

    /// Finds the broker that a text begins with, as `host:port`.
    ///
    /// Formats: `ssl://host:9093/1: …`, `host:9092/bootstrap: …`, and for a role `GroupCoordinator: host:9092: …`.
    private static func broker(in text: String) -> String? {
        let segments = text.split(separator: ": ", maxSplits: 2)
        let isPart = segments.count > 2 && ["GroupCoordinator", "TxnCoordinator"].contains(segments[0])
        guard var name = isPart ? segments[1] : segments.first else { return nil }
        if let scheme = name.firstRange(of: "://") { name = name[scheme.upperBound...] }
        return address(name.prefix { $0 != "/" })
    }

    /// Parses `host:port`; nil if it contains other characters.
    private static func address(_ text: Substring) -> String? {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0
        else { return nil }
        let host = text[..<colon]
        let isName = host.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                true
            case UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: ":"), UInt8(ascii: "%"):
                host.first == "[" && host.last == "]"
            default: false
            }
        }
        guard isName, (1...255).contains(host.utf8.count) else { return nil }
        return "\(host):\(port)"
    }
}

/// OpenSSL's reasons for rejected broker certificates, by `host:port`; librdkafka's error text omits them.
///
/// All clients of the process share them: they verify with the same options, and the reason depends on the broker only.
enum CertificateFaults {
    private static let reasons = Mutex<[String: KafkaError.Reason]>([:])

    /// Maximum of brokers whose reasons are kept.
    private static let limit = 256

    static func reason(at broker: String) -> KafkaError.Reason? {
        reasons.withLock { $0[broker] }
    }

    static func note(_ verdict: Int32, at broker: String) {
        let reason = reason(of: verdict)
        reasons.withLock { reasons in
            if reasons[broker] != nil || reasons.count < limit { reasons[broker] = reason }
        }
    }

    /// Maps OpenSSL's verification result, `X509_V_ERR_…`, to a reason.
    static func reason(of verdict: Int32) -> KafkaError.Reason {
        switch verdict {
        case 9: .certificateNotYetValid
        case 10: .certificateExpired
        case 23: .certificateRevoked
        case 62, 63, 64: .hostNameMismatch
        default: .certificateUntrusted
        }
    }
}

extension ClientOptions {
    /// Installs a callback that records OpenSSL's results for brokers' certificates without changing them.
    func watchCertificates() {
        // SAFETY: the callback does not keep its arguments. A library without TLS has no such callback.
        _ = unsafe rd_kafka_conf_set_ssl_cert_verify_cb(options) { _, broker, _, verdict, _, _, _, _, _, _ in
            guard let verdict = unsafe verdict?.pointee else { return 0 }
            if verdict == 0 { return 1 }
            if let broker = unsafe broker { CertificateFaults.note(verdict, at: unsafe String(cString: broker)) }
            return 0
        }
    }
}
