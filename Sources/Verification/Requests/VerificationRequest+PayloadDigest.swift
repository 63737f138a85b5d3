// SPDX-License-Identifier: Apache-2.0

extension VerificationRequest {
    /// What makes the request the one it is, as bytes to digest: the same id with other bytes is a conflict.
    ///
    /// Left out is what a gateway may well say anew when it repeats itself: times, the client, its verification, the
    /// trace. No field that is there is empty, so an absent one is an empty field. The order is part of what is kept with
    /// every request and never changes; a new field goes to the end and only when it is there.
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
