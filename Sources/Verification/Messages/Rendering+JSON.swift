// SPDX-License-Identifier: Apache-2.0

extension Rendering {
    /// As a send's row keeps it.
    package var json: String {
        var writer = JSONWriter(reserving: 128)
        writer.object { rendering in
            rendering.member("language", language)
            rendering.member("appName", appName)
            rendering.member("domain", ifPresent: domain)
            rendering.member("androidAppHash", ifPresent: androidAppHash)
            rendering.member("sealedActionCode", ifPresent: sealedActionCode.map(Base64.encode))
            rendering.member("bundleId", ifPresent: pushApp?.bundleID)
            rendering.member("environment", ifPresent: pushApp?.environment.rawValue)
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// Reads what `json` wrote, or nil.
    package init?(json: String) {
        guard case .object(let members)? = try? JSONScanner.parse(Array(json.utf8)),
            let language = members.text("language"),
            let appName = members.text("appName")
        else { return nil }
        self.init(
            language: language,
            appName: appName,
            domain: members.text("domain"),
            androidAppHash: members.text("androidAppHash"),
            sealedActionCode: members.text("sealedActionCode").flatMap(Base64.decode),
            pushApp: PushApp(members)
        )
    }
}

extension PushApp {
    /// The app of a row, or nil for a message that is no push.
    fileprivate init?(_ members: JSONObject) {
        guard let bundleID = members.text("bundleId"),
            let environment = members.text("environment").flatMap(PushEnvironment.init(rawValue:))
        else { return nil }
        self.init(bundleID: bundleID, environment: environment)
    }
}
