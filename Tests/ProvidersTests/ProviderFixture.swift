// SPDX-License-Identifier: Apache-2.0

import Formats
import Providers
import Testing
import Verification

/// The auth token of every test's account, which no output may contain.
let token = "tok-3n-s3cr3t"

func message(
    text: String = "654321 is your code.",
    validity: Duration = .seconds(600),
    within callDeadline: Duration = .seconds(30),
    leavingWithin maxWait: Duration = .seconds(60),
    trace: TraceContext? = nil
) throws -> OutboundMessage {
    OutboundMessage(
        sendID: SendID(try #require(UUIDValue("01890a5d-ac96-774b-bcce-b302099a8057"))),
        content: .sms(TextMessage(recipient: try #require(PhoneNumber("+16505550123")), text: text)),
        validity: validity,
        callDeadline: callDeadline,
        leaveBy: .now + maxWait,
        trace: trace
    )
}

/// An HTTP answer with a JSON body; the connection stays open.
func answer(_ status: String, _ body: String, headers: String = "") -> ServerStep {
    .answer(
        "HTTP/1.1 \(status)\r\nContent-Type: application/json\r\n\(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    )
}

let created = answer(
    "201 Created",
    #"{"sid": "SM0123456789", "status": "queued", "num_segments": "2", "error_code": null}"#
)
