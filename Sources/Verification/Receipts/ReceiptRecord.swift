// SPDX-License-Identifier: Apache-2.0

import Formats

/// The fields of a receipt's value, checked against the types of the contract.
package struct ReceiptRecord {
    let provider: String
    package let sendID: SendID?
    let providerMessageID: String?
    let status: Receipt.Status?
    let errorCode: String?
    let occurredAt: Timestamp?

    /// The provider's callback parameters by name.
    ///
    /// They are the body's own fields if the body is a JSON object or a form, so that signed and read data are the
    /// same; otherwise they are those of `raw`.
    package let parameters: [String: String]

    /// The URL that the provider called, with its query.
    package let url: String?

    /// The callback's HTTP headers, with lower-case names; nil if the gateway passes none.
    package let headers: [String: String]?

    package let body: String?

    /// True if `parameters` are the body's own fields.
    package let isBodyRead: Bool

    /// Reads the fields; each must have the right type and size if present, and unknown ones are ignored.
    ///
    /// An unreadable time or code is left out, since neither identifies the message nor gives its status.
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

    /// The send's id in the query of the callback URL that we passed to the provider.
    var callbackSendID: SendID? { sendIDParameter.flatMap { UUIDValue($0) }.map { SendID($0) } }

    /// The text of `sendId` in the URL's query.
    package var sendIDParameter: Substring? {
        guard let query = url?.split(separator: "?", maxSplits: 1).dropFirst().first else { return nil }
        let pairs = query.prefix { $0 != "#" }.split(separator: "&")
        return pairs.first { $0.hasPrefix("sendId=") }?.dropFirst("sendId=".count)
    }

    /// The maximum size of a nested object's path in bytes, since each of its members repeats it.
    private static let maximumPath = 256

    /// The callback's parameters or headers, as frameworks pass them on; nil if there are none.
    ///
    /// A name that occurs twice after its conversion by `name` is an error.
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

    /// The scalar fields of an object, those of nested objects under dotted paths such as `error.title`.
    ///
    /// A list of one element counts as that element, since frameworks write parameters that may repeat as lists. Other
    /// lists and nulls are left out.
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
    /// The only element of a list of one, or the value itself.
    fileprivate var onlyElement: JSONValue {
        if case .array(let elements) = self, elements.count == 1 { elements[0] } else { self }
    }
}
