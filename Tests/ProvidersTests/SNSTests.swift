// SPDX-License-Identifier: Apache-2.0

import Testing
import Verification

@testable import Providers

@Suite struct `Amazon SNS` {
    private static let codes: [(ProviderOutcome, [String])] = [
        (
            .misconfigured,
            [
                "AccessDenied", "AccessDeniedException", "AuthorizationError", "EndpointDisabled", "ExpiredToken",
                "ExpiredTokenException", "IncompleteSignature", "InvalidAction", "InvalidClientTokenId",
                "InvalidSecurity", "KMSAccessDenied", "KMSDisabled", "KMSInvalidState", "KMSNotFound",
                "KMSOptInRequired", "MalformedQueryString", "MissingAction", "MissingAuthenticationToken",
                "MissingParameter", "NotAuthorized", "NotFound", "OptInRequired", "PlatformApplicationDisabled",
                "RequestExpired", "SignatureDoesNotMatch", "UnrecognizedClientException",
            ]
        ),
        (
            .refused,
            [
                "InvalidParameter", "InvalidParameterValue", "ParameterValueInvalid", "UserError", "ValidationError",
                "ValidationException", "SomethingNew",
            ]
        ),
        (
            .throttled,
            [
                "KMSThrottling", "RequestLimitExceeded", "SlowDown", "Throttled", "Throttling", "ThrottlingException",
                "TooManyRequestsException",
            ]
        ),
        (.unknown, ["RequestAbortedException"]),
    ]

    private static func error(_ code: String, _ message: String = "to +16505550123") -> String {
        """
        <?xml version="1.0"?>
        <ErrorResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/">
          <Error>
            <Type>Sender</Type>
            <Code>\(code)</Code>
            <Message>\(message)</Message>
          </Error>
          <RequestId>f187a3c1-376f-11df-8963-01868b7c937a</RequestId>
        </ErrorResponse>
        """
    }

    @Test func `maps every known code to its outcome`() async throws {
        let cases = Self.codes.flatMap { outcome, codes in codes.map { (outcome, $0) } }
        try await ScriptedServer.with(cases.map { answer("400 Bad Request", Self.error($0.1)) }) { server in
            try await ModuleSample.sns.with(baseURL: server.url) { provider in
                for (outcome, code) in cases {
                    let answer = await provider.send(try message())
                    #expect(answer == ProviderAnswer(outcome, errorCode: code), "\(code)")
                }
            }
        }
    }

    @Test(arguments: ["InternalError", "ServiceUnavailable", "Throttling"])
    func `leaves what comes with a server's error unknown`(code: String) async throws {
        let (answer, _) = try await ModuleSample.sns.exchange([answer("503 Unavailable", Self.error(code))])
        #expect(answer == ProviderAnswer(.unknown, errorCode: code))
    }

    @Test(arguments: [
        error("OptedOut"), error("ValidationException", "Phone number +16505550123 is Opted Out"),
        error("InvalidParameter", "Invalid parameter: PhoneNumber Reason: +16505550123 is opted out"),
    ])
    func `tells that a person has opted out`(body: String) async throws {
        let (answer, _) = try await ModuleSample.sns.exchange([answer("400 Bad Request", body)])
        #expect(answer == ProviderAnswer(.optedOut, errorCode: "opted_out"))
    }

    @Test(arguments: [
        "<PublishResult><MessageId>a</MessageId></PublishResult>",
        "<PublishResponse><MessageId>a</MessageId><PublishResult></PublishResult></PublishResponse>",
        "<PublishResponse><PublishResult><MessageId>a</PublishResult></PublishResponse>",
        "<PublishResponse><PublishResult><MessageId>a<b></b></MessageId></PublishResult></PublishResponse>",
        "<PublishResponse><PublishResult><MessageIds>a</MessageIds></PublishResult></PublishResponse>",
        "&lt;PublishResponse>",
    ])
    func `takes no id from another place`(body: String) async throws {
        let (answer, _) = try await ModuleSample.sns.exchange([answer("200 OK", body)])
        #expect(answer == ProviderAnswer(.accepted))
    }

    @Test func `finds the id after longer names and attributes`() async throws {
        let body = """
            <PublishResponseX/><PublishResponse  xmlns='x'><PublishResults/><PublishResult a="1"><MessageId>a-1</MessageId>\
            </PublishResult></PublishResponse>
            """
        let (answer, _) = try await ModuleSample.sns.exchange([answer("200 OK", body)])
        #expect(answer == ProviderAnswer(.accepted, messageID: "a-1"))
    }

    @Test(arguments: [
        ("<n:R xmlns:n=\"x\"><n:P><n:MessageId>a-1</n:MessageId></n:P></n:R>", "a-1"),
        ("<R\n\txmlns=\"x\">\r\n<P>\n<MessageId>\n  a-1\n</MessageId >\n</P></R>", "a-1"),
        ("<R><!-- <P/> --><P><MessageId><![CDATA[a<1>]]></MessageId></P></R>", "a<1>"),
        ("<R><P><MessageId>a&amp;b&lt;</MessageId></P></R>", "a&b<"),
        ("\u{FEFF}<?xml version='1.0'?><R><P><MessageId>é==</MessageId></P></R>", "é=="),
        ("<R><P><MessageId/></P></R>", nil), ("<R><!-- <P><MessageId>a-1</MessageId></P> --></R>", nil),
        ("<R><P><MessageId>a-1</P></R>", nil),
    ])
    func `finds the id however its XML is written`(body: String, id: String?) async throws {
        let names = [("R", "PublishResponse"), ("P", "PublishResult")]
        let body = names.reduce(body) { body, name in
            ["<", "</", "<n:", "</n:"].reduce(body) { body, start in
                ["\n", " ", ">", "/"].reduce(body) { $0.replacing(start + name.0 + $1, with: start + name.1 + $1) }
            }
        }
        let (answer, _) = try await ModuleSample.sns.exchange([answer("200 OK", body)])
        #expect(answer == ProviderAnswer(.accepted, messageID: id))
    }

    @Test func `reads an error behind any prefix`() async throws {
        let changes = [("</", "</a:"), ("<E", "<a:E"), ("<C", "<a:C")]
        let body = changes.reduce(Self.error("Throttling")) { $0.replacing($1.0, with: $1.1) }
        let (answer, _) = try await ModuleSample.sns.exchange([answer("400 Bad Request", body)])
        #expect(answer == ProviderAnswer(.throttled, errorCode: "Throttling"))
    }

    @Test func `gets a signed form`() async throws {
        let request = try await ModuleSample.sns.request()
        #expect(request.head.hasPrefix("POST / HTTP/1.1\r\n"))
        #expect(request.header("content-type") == "application/x-www-form-urlencoded")
        let authorization = try #require(request.header("authorization"))
        #expect(authorization.hasPrefix("AWS4-HMAC-SHA256 Credential=AKIA1/"))
        #expect(authorization.contains("/us-east-1/sns/aws4_request, SignedHeaders=content-type;host;x-amz-date, "))
        #expect(request.header("x-amz-date")?.utf8.count == 16)
        #expect(request.header("x-amz-security-token") == nil)
        #expect(request.head.lowercased().components(of: "\r\nhost:") == 1)
        #expect(
            request.body
                == "Action=Publish&Version=2010-03-31&PhoneNumber=%2B16505550123&Message=654321+is+your+code."
                + "&MessageAttributes.entry.1.Name=AWS.SNS.SMS.SMSType&MessageAttributes.entry.1.Value.DataType=String"
                + "&MessageAttributes.entry.1.Value.StringValue=Transactional"
        )
    }

    @Test func `gets every attribute and the session's token`() async throws {
        let kind = ModuleSample.sns.changing { (configuration: inout SNSConfiguration) in
            configuration.senderID = "Acme"
            configuration.originationNumber = "+12065550100"
            configuration.smsType = .promotional
            configuration.maxPrice = "0.25"
            configuration.accessKey = AccessKey(id: "ASIA1", secret: Secret(token), sessionToken: Secret("session"))
        }
        let recipient = try #require(PhoneNumber("+16505550123"))
        let registration = TemplateRegistration(entityID: "1101", templateID: "1107")
        let message = OutboundMessage(
            sendID: try message().sendID,
            content: .sms(TextMessage(recipient: recipient, text: "a", registration: registration)),
            validity: .seconds(60),
            callDeadline: .seconds(5),
            leaveBy: .now + .seconds(60)
        )
        let request = try await kind.request(message)
        #expect(request.header("x-amz-security-token") == "session")
        #expect(request.header("authorization")?.contains(";x-amz-security-token, ") == true)
        let attributes = [
            ("AWS.SNS.SMS.SMSType", "String", "Promotional"), ("AWS.SNS.SMS.SenderID", "String", "Acme"),
            ("AWS.MM.SMS.OriginationNumber", "String", "%2B12065550100"), ("AWS.SNS.SMS.MaxPrice", "Number", "0.25"),
            ("AWS.MM.SMS.EntityId", "String", "1101"), ("AWS.MM.SMS.TemplateId", "String", "1107"),
        ]
        for (index, (name, type, value)) in attributes.enumerated() {
            let entry = "&MessageAttributes.entry.\(index + 1)"
            #expect(
                request.body.contains(
                    "\(entry).Name=\(name)\(entry).Value.DataType=\(type)\(entry).Value.StringValue=\(value)"
                )
            )
        }
        #expect(!request.body.contains("entry.7"))
    }
}

extension String {
    /// Number of occurrences of a text.
    fileprivate func components(of text: String) -> Int {
        ranges(of: text).count
    }
}
