// SPDX-License-Identifier: Apache-2.0

import CLibrdkafka
import Synchronization

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
    /// Records OpenSSL's results for brokers' certificates, and changes none of them.
    func watchCertificates() {
        // SAFETY: the callback keeps nothing of what it is lent. A library without TLS has no such callback.
        _ = unsafe rd_kafka_conf_set_ssl_cert_verify_cb(options) { _, broker, _, verdict, _, _, _, _, _, _ in
            guard let verdict = unsafe verdict?.pointee else { return 0 }
            if verdict == 0 { return 1 }
            if let broker = unsafe broker { CertificateFaults.note(verdict, at: unsafe String(cString: broker)) }
            return 0
        }
    }
}
