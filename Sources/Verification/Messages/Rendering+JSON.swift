// SPDX-License-Identifier: Apache-2.0

import Formats

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
