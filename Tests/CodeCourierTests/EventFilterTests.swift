// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import CodeCourier

@Suite struct EventFilterTests {
    private static let event = EventLine(
        Array(
            #"""
            {"requestId":"r1","verificationId":"v1","status":"failed","recipient":{"masked":"+4***","fingerprint":"ab"}}
            """#.utf8
        )
    )

    @Test func `without a condition every event is shown, a foreign one too`() {
        #expect(EventFilter().contains(Self.event))
        #expect(EventFilter().contains(EventLine(Array("{".utf8))))
    }

    @Test(
        arguments: [
            EventFilter(requestID: "r1"), EventFilter(verificationID: "v1"), EventFilter(statuses: ["failed", "sent"]),
            EventFilter(fingerprints: ["ab", "cd"]),
            EventFilter(requestID: "r1", verificationID: "v1", statuses: ["failed"], fingerprints: ["ab"]),
        ]
    )
    func `an event that matches all conditions is shown, an unreadable one is not`(_ filter: EventFilter) {
        #expect(filter.contains(Self.event))
        #expect(!filter.contains(EventLine(Array("{".utf8))))
    }

    @Test(
        arguments: [
            EventFilter(requestID: "r2", verificationID: "v1"), EventFilter(requestID: "r1", verificationID: "v2"),
            EventFilter(requestID: "r1", statuses: ["sent"]), EventFilter(requestID: "r1", fingerprints: ["cd"]),
        ]
    )
    func `one condition that an event fails hides it`(_ filter: EventFilter) {
        #expect(!filter.contains(Self.event))
    }
}
