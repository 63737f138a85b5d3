// SPDX-License-Identifier: Apache-2.0

extension RequestActionCode {
    /// The fields as in a request, to be sealed: the URL may identify the person.
    package var json: String {
        var writer = JSONWriter(reserving: 256)
        writer.object { fields in
            fields.member("url", ifPresent: url?.text)
            fields.member("linkDomain", ifPresent: linkDomain?.text)
            fields.member("iosBundleId", ifPresent: iosBundleID)
            fields.member("androidPackageName", ifPresent: androidPackageName)
            fields.member("androidMinimumVersion", ifPresent: androidMinimumVersion)
            fields.member("androidInstallApp", ifPresent: androidInstallApp)
            fields.member("handleCodeInApp", ifPresent: handleCodeInApp)
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// Reads the format of `json`; nil for anything else.
    package init?(json: String) {
        guard case .object(let object)? = try? JSONScanner.parse(Array(json.utf8)),
            let actionCode = try? RequestActionCode(RequestFields(object))
        else { return nil }
        self = actionCode
    }
}
