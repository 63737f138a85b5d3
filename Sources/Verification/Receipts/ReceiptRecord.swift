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
    /// Those of `raw`; or, when the body is a JSON object or a form, the body's own, so that what is read is what was
    /// signed.
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
    ///
    /// A time or a code that cannot be read is left out: neither says of which message the receipt is, nor what became of
    /// it.
    init(_ object: JSONObject, _ secrets: ReceiptSecrets) throws(DeadLetterReason) {
        let fields = RequestFields(object)
        var unread: [String] = []
        do {
            guard let provider = try fields.text("provider", within: 1...64) else { throw fields.fault("provider") }
            self.provider = secrets.name(of: provider)
            sendID = try fields.parsed("sendId") { UUIDValue($0).map { SendID($0) } }
            status = try fields.parsed("status") { Receipt.Status(rawValue: $0.lowercased()) }
            url = try fields.text("url", within: 1...4096)
        } catch {
            throw .invalidReceipt
        }
        providerMessageID = object["providerMessageId"]?.word.flatMap(AnswerWord.messageID)
        errorCode = object["errorCode"]?.word.flatMap { $0.isPlain(within: 1...64) ? $0 : nil }
        occurredAt = fields.hint("occurredAt", &unread) { Timestamp(serialized: $0) }
        headers = try Self.parameters(object["headers"], name: { $0.lowercased() })
        let raw = try Self.parameters(object["raw"])
        let content = try CallbackBody(object["body"], raw)
        body = content.text
        parameters = content.parameters ?? raw ?? [:]
        isBodyRead = content.parameters != nil
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

    /// The parameters of a request as frameworks hand them on; nil where there are none.
    ///
    /// A name twice, as far as its letters' forms go, is a fault.
    private static func parameters(
        _ value: JSONValue?,
        name: (String) -> String = { $0 }
    ) throws(DeadLetterReason) -> [String: String]? {
        switch value {
        case nil, .null, .string(""): return nil
        case .array(let elements) where elements.isEmpty: return nil
        case .object(let object): return try flattened(object, name: name)
        default: throw .invalidReceipt
        }
    }

    /// The scalars of an object, a nested one under the names on its way joined by points, such as `error.title`.
    ///
    /// A list of one element is that element: so frameworks write parameters that may come more than once. Other lists and
    /// nulls say nothing that is read and are left out.
    static func flattened(
        _ object: JSONObject,
        name: (String) -> String = { $0 }
    ) throws(DeadLetterReason) -> [String: String] {
        var texts: [String: String] = [:]
        var waiting = [(path: "", object: object)]
        while let (path, object) = waiting.popLast() {
            for member in object.members {
                let name = path + name(member.name)
                let text: String
                switch member.value.onlyElement {
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

extension JSONValue {
    /// The element of a list of one, or the value itself.
    fileprivate var onlyElement: JSONValue {
        if case .array(let elements) = self, elements.count == 1 { elements[0] } else { self }
    }
}
