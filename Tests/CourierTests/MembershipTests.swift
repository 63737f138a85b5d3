// SPDX-License-Identifier: Apache-2.0

import Courier
import KafkaClient
import Testing

@Suite struct MembershipTests {
    @Test func `a consumer is a member from its first share, be it none, until the group takes its partitions away`() {
        let membership = Membership()
        let partition = TopicPartition(topic: "t", partition: 0)
        #expect(!membership.isMember)
        membership.note(.brokersUnreachable(nil))
        membership.note(.assigned([]))
        #expect(membership.isMember)
        membership.note(.revoked([partition]))
        #expect(membership.isMember)
        membership.note(.lost([partition]))
        #expect(!membership.isMember)
        membership.note(.assigned([partition]))
        #expect(membership.isMember)
    }
}
