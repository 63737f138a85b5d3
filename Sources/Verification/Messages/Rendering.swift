// SPDX-License-Identifier: Apache-2.0

import Formats

/// The parameters of a message's text except the code; it holds no recipient.
package struct Rendering: Sendable, Equatable {
    package let language: String
    package let appName: String

    /// The domain that the code is bound to (WICG, origin-bound one-time codes).
    package let domain: String?

    /// The Android app's hash for the SMS Retriever API, which must end the message.
    package let androidAppHash: String?

    /// The action code of an e-mail, sealed for its verification, since its URL may identify a person.
    package let sealedActionCode: [UInt8]?

    /// The target app of a silent push.
    package let pushApp: PushApp?

    package init(
        language: String,
        appName: String,
        domain: String?,
        androidAppHash: String?,
        sealedActionCode: [UInt8]? = nil,
        pushApp: PushApp? = nil
    ) {
        self.language = language
        self.appName = appName
        self.domain = domain
        self.androidAppHash = androidAppHash
        self.sealedActionCode = sealedActionCode
        self.pushApp = pushApp
    }

    package init(_ request: VerificationRequest, tenant: TenantPolicy, sealedActionCode: [UInt8]? = nil) {
        let appHash = request.isForAndroidApp ? request.autofill?.androidAppHash : nil
        self.init(
            language: request.languageCode?.text ?? tenant.defaultLanguage,
            appName: request.appName?.text ?? tenant.appName,
            domain: appHash == nil ? request.autofill?.domain?.text : nil,
            androidAppHash: appHash,
            sealedActionCode: sealedActionCode,
            pushApp: request.recipient.pushApp
        )
    }

    /// The last line, with the empty one before it: it binds the code to a domain or to an Android app.
    ///
    /// Only one of the two can be last. The Retriever API reads 140 bytes, which is one segment.
    func ending(_ digits: String) -> String {
        if let domain { return "\n\n@\(domain) #\(digits)" }
        if let androidAppHash { return "\n\n\(androidAppHash)" }
        return ""
    }
}

extension VerificationRequest {
    /// A browser on the same phone would need the domain, so the platform decides if a request has both.
    fileprivate var isForAndroidApp: Bool {
        guard let platform = client?.platform else { return autofill?.domain == nil }
        return platform == .android
    }
}

extension Duration {
    /// The minutes as shown in a message: rounded up, at least one.
    package var shownMinutes: Int {
        let (minutes, rest) = microseconds.quotientAndRemainder(dividingBy: 60_000_000)
        return max(1, Int(clamping: rest > 0 ? minutes + 1 : minutes))
    }
}

/// The stored form of a rendering: a JSON array of strings.
///
/// Language, app name, domain, Android app hash, sealed action code, bundle id, environment: an absent value is an
/// empty string, and absent values at the end are omitted.
extension Rendering {
    /// The format that a send's row stores.
    package var json: String {
        var fields = [
            language, appName, domain ?? "", androidAppHash ?? "", sealedActionCode.map(Base64.encode) ?? "",
            pushApp?.bundleID ?? "", pushApp?.environment.rawValue ?? "",
        ]
        while fields.count > 2, fields.last == "" { fields.removeLast() }
        var writer = JSONWriter(reserving: 128)
        writer.array { array in
            for field in fields { array.element(field) }
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// Reads the format of `json`; nil for anything else.
    package init?(json: String) {
        guard case .array(let values)? = try? JSONScanner.parse(Array(json.utf8)) else { return nil }
        var fields: [String] = []
        for case .string(let field) in values { fields.append(field) }
        guard fields.count == values.count, fields.count >= 2 else { return nil }
        func field(_ place: Int) -> String? { place < fields.count && fields[place] != "" ? fields[place] : nil }
        let environment = field(6).flatMap(PushEnvironment.init(rawValue:))
        self.init(
            language: fields[0],
            appName: fields[1],
            domain: field(2),
            androidAppHash: field(3),
            sealedActionCode: field(4).flatMap(Base64.decode),
            pushApp: field(5).flatMap { id in environment.map { PushApp(bundleID: id, environment: $0) } }
        )
    }
}
