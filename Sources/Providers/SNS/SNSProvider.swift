// SPDX-License-Identifier: Apache-2.0

import Formats
import Logs
import NIOHTTP1
package import Verification

/// Amazon SNS: the `Publish` action to a phone number, in the query protocol.
///
/// The action has no idempotency key, so a call whose answer is lost must not be repeated: it is `unknown`. It has no
/// time to live either. Delivery results are only in CloudWatch's logs.
package struct SNSProvider: MessageProvider {
    package var name: String { configuration.name }

    private let configuration: SNSConfiguration
    private let client: ProviderClient
    private let target: Target?
    private let signature: SignatureV4

    /// Creates a provider that uses, but does not own, the client.
    package init(configuration: SNSConfiguration, client: ProviderClient) {
        self.configuration = configuration
        self.client = client
        target = Target("\(ProviderRequest.base(configuration.baseURL))/", by: configuration.connection)
        signature = SignatureV4(accessKey: configuration.accessKey, region: configuration.region, service: "sns")
    }

    package func send(_ message: OutboundMessage) async -> ProviderAnswer {
        guard case .sms(let text) = message.content else { return ProviderAnswer(.misconfigured, errorCode: "channel") }
        let form = form(for: text)
        let result = await client.exchange(request(form), Array(form.utf8), of: message)
        return result.providerAnswer(to: message.content.recipient, SNSAnswer.classify)
    }

    private func request(_ form: String) -> ProviderRequest {
        let host = target?.authority ?? ""
        let headers = [(name: "Host", value: host), (name: "Content-Type", value: FormBody.contentType)]
        let signed = signature.signed(headers, body: form, at: .now)
        return ProviderRequest(to: target, headers: HTTPHeaders([("Accept", "text/xml")] + signed))
    }

    private func form(for text: TextMessage) -> String {
        var form = FormBody()
        form.append("Action", "Publish")
        form.append("Version", "2010-03-31")
        form.append("PhoneNumber", text.recipient.e164)
        form.append("Message", text.text)
        for (index, attribute) in attributes(of: text).enumerated() {
            let entry = "MessageAttributes.entry.\(index + 1)"
            form.append("\(entry).Name", attribute.name)
            form.append("\(entry).Value.DataType", attribute.type)
            form.append("\(entry).Value.StringValue", attribute.value)
        }
        return form.text
    }

    private func attributes(of text: TextMessage) -> [(name: String, type: String, value: String)] {
        let all = [
            ("AWS.SNS.SMS.SMSType", "String", configuration.smsType.rawValue),
            ("AWS.SNS.SMS.SenderID", "String", configuration.senderID),
            ("AWS.MM.SMS.OriginationNumber", "String", configuration.originationNumber),
            ("AWS.SNS.SMS.MaxPrice", "Number", configuration.maxPrice),
            ("AWS.MM.SMS.EntityId", "String", text.registration?.entityID),
            ("AWS.MM.SMS.TemplateId", "String", text.registration?.templateID),
        ]
        return all.compactMap { name, type, value in value.map { (name, type, $0) } }
    }
}

extension SNSProvider: CustomStringConvertible, CustomReflectable {
    package var description: String { "SNSProvider(\(name))" }

    /// Shows the configuration only: the client is shared, and its internals change during reflection.
    package var customMirror: Mirror { Mirror(self, children: ["configuration": configuration]) }
}
