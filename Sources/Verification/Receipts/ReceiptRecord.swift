// SPDX-License-Identifier: Apache-2.0

/// The fields of a receipt's value, each of the shape that the contract gives it.
struct ReceiptRecord {
    let provider: String
    let sendID: SendID?
    let providerMessageID: String?
    let status: Receipt.Status?
    let errorCode: String?
    let occurredAt: Timestamp?

    /// The provider's callback parameters by their names.
    ///
    /// Those of `raw`; or, when the body is a JSON object, the body's own, so that what is read is what was signed.
    let parameters: [String: String]

    /// The address that the provider called, with its query.
    let url: String?

    /// The callback's HTTP headers, their names in lower case; nil when the gateway passes none.
    let headers: [String: String]?

    /// The callback's body as it came.
    let body: String?

    /// Whether the parameters are the body's own.
    let isBodyRead: Bool

    /// Reads the fields; one that is there must have its type and its size, unknown ones are ignored.
    init(_ object: JSONObject, _ secrets: ReceiptSecrets) throws(DeadLetterReason) {
        let fields = RequestFields(object)
        do {
            guard let provider = try fields.text("provider", within: 1...64) else { throw fields.fault("provider") }
            self.provider = secrets.name(of: provider)
            sendID = try fields.parsed("sendId") { UUIDValue($0).map { SendID($0) } }
            providerMessageID = try fields.text("providerMessageId", within: 1...256)
            status = try fields.choice("status")
            errorCode = try fields.text("errorCode", within: 0...64).flatMap { $0.isEmpty ? nil : $0 }
            occurredAt = try fields.parsed("occurredAt") { Timestamp(rfc3339: $0) }
            url = try fields.text("url", within: 1...4096)
            body = try fields.parsed("body") { $0 }
        } catch {
            throw .invalidReceipt
        }
        headers = try Self.texts(object["headers"], name: { $0.lowercased() })
        let raw = try Self.texts(object["raw"])
        if let body, case .object(let members)? = try? JSONScanner.parse(Array(body.utf8)) {
            parameters = try Self.flattened(members)
            isBodyRead = true
        } else {
            parameters = raw ?? [:]
            isBodyRead = false
        }
    }

    /// The send's id in the query of the address that we gave the provider.
    var callbackSendID: SendID? { sendIDParameter.flatMap { UUIDValue($0) }.map { SendID($0) } }

    /// The text of `sendId` in the address's query.
    var sendIDParameter: Substring? {
        guard let query = url?.split(separator: "?", maxSplits: 1).dropFirst().first else { return nil }
        let pairs = query.prefix { $0 != "#" }.split(separator: "&")
        return pairs.first { $0.hasPrefix("sendId=") }?.dropFirst("sendId=".count)
    }

    /// The longest name of a nested object, in bytes: each of its members repeats it.
    private static let maximumPath = 256

    /// An object of strings; a name twice, as far as its letters' forms go, is a fault.
    private static func texts(
        _ value: JSONValue?,
        name: (String) -> String = { $0 }
    ) throws(DeadLetterReason) -> [String: String]? {
        guard let value else { return nil }
        guard case .object(let object) = value else { throw .invalidReceipt }
        var texts: [String: String] = [:]
        for member in object.members {
            guard case .string(let text) = member.value else { throw .invalidReceipt }
            guard texts.updateValue(text, forKey: name(member.name)) == nil else { throw .invalidReceipt }
        }
        return texts
    }

    /// The scalars of a JSON body, a nested one under the names on its way joined by points, such as `error.title`.
    ///
    /// Arrays and nulls say nothing that is read and are left out.
    private static func flattened(_ object: JSONObject) throws(DeadLetterReason) -> [String: String] {
        var texts: [String: String] = [:]
        var waiting = [(path: "", object: object)]
        while let (path, object) = waiting.popLast() {
            for member in object.members {
                let name = path + member.name
                let text: String
                switch member.value {
                case .string(let value): text = value
                case .number(let value): text = value.literal
                case .bool(let value): text = String(value)
                case .object(let inner):
                    guard name.utf8.count <= maximumPath else { throw .invalidReceipt }
                    waiting.append((name + ".", inner))
                    continue
                case .array, .null: continue
                }
                guard texts.updateValue(text, forKey: name) == nil else { throw .invalidReceipt }
            }
        }
        return texts
    }
}
