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
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// Reads what `json` wrote, or nil.
    package init?(json: String) {
        guard case .object(let members)? = try? JSONScanner.parse(Array(json.utf8)),
            case .string(let language)? = members["language"],
            case .string(let appName)? = members["appName"]
        else { return nil }
        self.init(
            language: language,
            appName: appName,
            domain: members.text("domain"),
            androidAppHash: members.text("androidAppHash")
        )
    }
}

extension JSONObject {
    fileprivate func text(_ name: String) -> String? {
        guard case .string(let text)? = self[name] else { return nil }
        return text
    }
}
