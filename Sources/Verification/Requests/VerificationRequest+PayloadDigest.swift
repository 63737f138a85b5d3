// SPDX-License-Identifier: Apache-2.0

import Formats

extension VerificationRequest {
    /// The request's identity, as bytes to digest: the same id with other bytes is a conflict.
    ///
    /// Fields that a gateway may change in a repeated request are left out: times, the client, its app verification,
    /// the trace context. No present field is empty, so an absent one is written as an empty field. Stored digests
    /// depend on the order, so it never changes; a new field is appended at the end, and only if present.
    package var payloadDigestInput: [UInt8] {
        var joiner = FieldJoiner(reserving: 256)
        joiner.append(channel.rawValue)
        joiner.append(purpose.rawValue)
        joiner.append(recipient.canonical)
        if case .device(let token) = recipient {
            joiner.append(token.bundleID)
            joiner.append(token.environment.rawValue)
        } else {
            joiner.append("")
            joiner.append("")
        }
        joiner.append(languageCode?.text ?? "")
        joiner.append(appName?.given ?? "")
        joiner.append(subject ?? "")
        joiner.append(autofill?.domain?.text ?? "")
        joiner.append(autofill?.androidAppHash ?? "")
        joiner.append(actionCode?.url?.text ?? "")
        joiner.append(actionCode?.linkDomain?.text ?? "")
        joiner.append(actionCode?.iosBundleID ?? "")
        joiner.append(actionCode?.androidPackageName ?? "")
        joiner.append(actionCode?.androidMinimumVersion ?? "")
        joiner.append(actionCode?.androidInstallApp?.description ?? "")
        joiner.append(actionCode?.handleCodeInApp?.description ?? "")
        return joiner.bytes
    }
}
