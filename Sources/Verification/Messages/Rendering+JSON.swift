// SPDX-License-Identifier: Apache-2.0

/// A JSON array of texts, an empty one for what there is not: language, name of the app, domain, hash of the Android app,
/// sealed action code, bundle id and environment. What is missing at the end is left out.
extension Rendering {
    /// As a send's row keeps it.
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

    /// Reads what `json` wrote, or nil.
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
