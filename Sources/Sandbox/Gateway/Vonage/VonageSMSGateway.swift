// SPDX-License-Identifier: Apache-2.0

import Formats
import Hummingbird
import NIOCore

/// Vonage's SMS API, `POST /sms/json`, by form or JSON (developer.vonage.com, "SMS API reference").
///
/// It sends GSM-7 unless `type` is `unicode`.
struct VonageSMSGateway: GatewayDialect {
    let intake: MessageIntake
    let authToken: String?

    let provider = SandboxProvider.vonage

    func addRoutes(to router: Router<SandboxContext>) {
        router.post("/sms/json") { try await intake.take($0, $1, as: self) }
        router.post("/conversions/sms", use: takeConversion)
    }

    /// The Conversion API, which answers by the status alone (developer.vonage.com, "Conversion API reference").
    @Sendable
    private func takeConversion(_ request: Request, context: SandboxContext) async throws -> Response {
        let body = try await request.body.collect(upTo: MessageIntake.bodyLimit)
        let parameter = Self.parameters(body, isJSON: request.isJSON)
        guard let account = parameter("api_key"), let secret = parameter("api_secret"), secret == authToken ?? secret
        else {
            return Response(status: .unauthorized)
        }
        guard let delivered = parameter("delivered"), ["true", "false", "0", "1"].contains(delivered),
            parameter("timestamp").map(Self.isConversionTime) ?? true
        else { return Response(status: HTTPResponse.Status(code: 423)) }
        guard let sid = parameter("message-id"), let message = await intake.inbox.message(sid: sid)?.message,
            message.provider == .vonage, message.accountSid == account
        else { return Response(status: HTTPResponse.Status(code: 420)) }
        if ["true", "1"].contains(delivered) { await intake.inbox.confirm(sid) }
        return Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: "OK")))
    }

    /// True for `yyyy-MM-dd HH:mm:ss`.
    private static func isConversionTime(_ text: String) -> Bool {
        text.count == 19 && Timestamp(rfc3339: "\(text.replacing(" ", with: "T"))Z") != nil
    }

    /// Always `nil`: the credentials are in the body, or in a header that is checked with it.
    func objection(to head: Request) -> (any GatewayError)? { nil }

    func arrival(_ body: ByteBuffer, of request: Request, context: SandboxContext) throws -> Arrival {
        let parameter = Self.parameters(body, isJSON: request.isJSON)
        let basic = Credentials(request)?.basic
        guard let account = parameter("api_key") ?? basic?.name else { throw VonageSMSError.missing("api_key") }
        // A signed request has `sig` instead of the secret; it is not checked, since no key is known here.
        guard let secret = parameter("api_secret") ?? basic?.password ?? parameter("sig") else {
            throw VonageSMSError.missing("api_secret")
        }
        if let authToken, parameter("sig") == nil, secret != authToken { throw VonageSMSError.credentials }
        let text = parameter("text") ?? ""
        let isUnicode = parameter("type") == "unicode"
        return Arrival(
            provider: .vonage,
            account: account,
            to: Arrival.number(withoutPlus: parameter("to") ?? ""),
            from: parameter("from") ?? "",
            body: isUnicode ? text : Self.gsm7(text),
            validityPeriod: parameter("ttl"),
            statusCallback: parameter("callback"),
            reference: parameter("client-ref"),
            remotePort: context.channel.remoteAddress?.port
        )
    }

    func objection(to arrival: Arrival) -> (any GatewayError)? {
        if arrival.to.isEmpty { return VonageSMSError.missing("to") }
        if arrival.from.isEmpty { return VonageSMSError.missing("from") }
        if arrival.body.isEmpty { return VonageSMSError.missing("text") }
        if !arrival.hasPhoneNumber { return VonageSMSError.invalid("to") }
        if let period = arrival.validityPeriod, !Self.isTimeToLive(period) { return VonageSMSError.invalid("ttl") }
        if let reference = arrival.reference, reference.count > 100 { return VonageSMSError.invalid("client-ref") }
        return TextEncoding(arrival.body).segments > 10 ? VonageSMSError(scripted: 12) : nil
    }

    func refusal(for fault: Fault) -> (any GatewayError)? {
        switch fault {
        case .status(let status, let code, _): VonageSMSError(scriptedStatus: status, code: code)
        case .error(let code): VonageSMSError(scripted: code)
        case .reason: VonageSMSError(scripted: 5)
        case .rate: VonageSMSError(scripted: 1)
        default: nil
        }
    }

    func newIdentifier() -> String { Identifier.hexadecimal(16).uppercased() }

    func answer(to stored: Inbox.Stored) throws -> GatewayAnswer {
        GatewayAnswer(status: .ok, body: try JSONLine.buffer(of: VonageSMSAnswer(stored.message)))
    }

    /// The text reduced to GSM-7, with `?` for each character outside of it.
    static func gsm7(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { TextEncoding.hasGSM7($0) ? $0 : "?" }))
    }

    /// True for 20 s to 7 days, in milliseconds.
    private static func isTimeToLive(_ text: String) -> Bool {
        Int(text).map { (20_000...604_800_000).contains($0) } ?? false
    }

    private static func parameters(_ body: ByteBuffer, isJSON: Bool) -> (String) -> String? {
        if isJSON {
            let object = JSONValue(body: body.readableBytesView)?.object
            return { object?[$0]?.text }
        }
        let form = FormParameters(body.readableBytesView)
        return { form[$0] }
    }
}

/// Vonage's answer to an accepted message: an entry for each part, the first with the message's own id.
private struct VonageSMSAnswer: Encodable {
    struct Part: Encodable {
        let to: String
        let identifier: String
        let status = "0"
        let balance = "3.14159265"
        let price = "0.03330000"
        let network = "12345"
        let reference: String?

        private enum CodingKeys: String, CodingKey {
            case to, status, network
            case identifier = "message-id"
            case balance = "remaining-balance"
            case price = "message-price"
            case reference = "client-ref"
        }
    }

    let count: String
    let messages: [Part]

    private enum CodingKeys: String, CodingKey {
        case count = "message-count"
        case messages
    }

    init(_ message: SandboxMessage) {
        count = String(message.segments)
        messages = (0..<message.segments).map { index in
            let identifier = index == 0 ? message.sid : String(message.sid.dropLast(2)) + "-" + String(index)
            return Part(to: String(message.to.dropFirst()), identifier: identifier, reference: message.reference)
        }
    }
}

extension Request {
    /// True when the content type is JSON.
    var isJSON: Bool {
        headers[.contentType]?.lowercased().hasPrefix("application/json") ?? false
    }
}
