// SPDX-License-Identifier: Apache-2.0

import Formats
import Hummingbird
import NIOCore

/// The action `Publish` of Amazon SNS to a phone number, in the query protocol: `POST /`.
///
/// Source: docs.aws.amazon.com, "Amazon SNS API reference". A signature must be there; no key is known here to check it.
struct SNSGateway: GatewayDialect {
    static let version = "2010-03-31"

    let intake: MessageIntake

    let provider = SandboxProvider.sns

    func addRoutes(to router: Router<SandboxContext>) {
        router.post("/") { try await intake.take($0, $1, as: self) }
    }

    func objection(to head: Request) -> (any GatewayError)? {
        Self.accessKey(head) == nil ? SNSError("MissingAuthenticationToken") : nil
    }

    /// The access key's id in `AWS4-HMAC-SHA256 Credential=ID/DATE/REGION/sns/aws4_request, …`.
    private static func accessKey(_ head: Request) -> String? {
        let start = "AWS4-HMAC-SHA256 Credential="
        guard let header = head.headers[.authorization], header.hasPrefix(start) else { return nil }
        let id = header.dropFirst(start.count).prefix { $0 != "/" }
        return id.isEmpty ? nil : String(id)
    }

    func arrival(_ body: ByteBuffer, of request: Request, context: SandboxContext) throws -> Arrival {
        let parameters = FormParameters(body.readableBytesView)
        guard let action = parameters["Action"] else { throw SNSError("MissingAction") }
        guard action == "Publish" else { throw SNSError("InvalidAction") }
        return Arrival(
            provider: .sns,
            account: Self.accessKey(request) ?? "",
            to: parameters["PhoneNumber"] ?? "",
            from: Self.sender(parameters) ?? "",
            body: parameters["Message"] ?? "",
            remotePort: context.channel.remoteAddress?.port
        )
    }

    private static func sender(_ parameters: FormParameters) -> String? {
        let entries = (1...10).map { "MessageAttributes.entry.\($0)" }
        for name in ["AWS.SNS.SMS.SenderID", "AWS.MM.SMS.OriginationNumber"] {
            if let entry = entries.first(where: { parameters["\($0).Name"] == name }) {
                return parameters["\(entry).Value.StringValue"]
            }
        }
        return nil
    }

    func objection(to arrival: Arrival) -> (any GatewayError)? {
        if !arrival.hasPhoneNumber { return SNSError("InvalidParameter", "Invalid parameter: PhoneNumber") }
        let isText = !arrival.body.isEmpty && arrival.body.count <= 1600
        return isText ? nil : SNSError("InvalidParameter", "Invalid parameter: Message")
    }

    func refusal(for fault: Fault) -> (any GatewayError)? {
        switch fault {
        case .status(let status, _, _):
            SNSError(status == 429 ? "Throttled" : status < 500 ? "InvalidParameter" : "InternalError", status: status)
        case .error: SNSError("InvalidParameter")
        case .reason(let reason): SNSError(reason)
        case .rate: SNSError("Throttled", status: 429)
        default: nil
        }
    }

    func newIdentifier() -> String { Identifier.uuid() }

    func answer(to stored: Inbox.Stored) throws -> GatewayAnswer {
        let xml = """
            <PublishResponse xmlns="http://sns.amazonaws.com/doc/\(Self.version)/"><PublishResult>\
            <MessageId>\(stored.message.sid)</MessageId></PublishResult><ResponseMetadata>\
            <RequestId>\(Identifier.uuid())</RequestId></ResponseMetadata></PublishResponse>
            """
        return GatewayAnswer(status: .ok, headers: [.contentType: "text/xml"], body: ByteBuffer(string: xml))
    }
}

/// An error answer of Amazon's, in XML.
struct SNSError: GatewayError {
    let name: String
    private let message: String
    private let status: Int

    /// Scripted reasons come from outside, so only their letters and digits reach the XML.
    init(_ code: String, _ message: String = "Scripted error", status: Int = 400) {
        name = code.filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
        self.message = message
        self.status = name == "MissingAuthenticationToken" ? 403 : status
    }

    func response(retryAfter: Int?) throws -> Response {
        let xml = """
            <ErrorResponse xmlns="http://sns.amazonaws.com/doc/\(SNSGateway.version)/"><Error>\
            <Type>\(status < 500 ? "Sender" : "Receiver")</Type><Code>\(name)</Code><Message>\(message)</Message></Error>\
            <RequestId>\(Identifier.uuid())</RequestId></ErrorResponse>
            """
        var response = Response(
            status: HTTPResponse.Status(code: status),
            headers: [.contentType: "text/xml", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: xml))
        )
        response.setRetryAfter(retryAfter)
        return response
    }
}
