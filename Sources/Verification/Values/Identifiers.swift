// SPDX-License-Identifier: Apache-2.0

package import Formats

/// The id of a verification: a UUIDv7.
package struct VerificationID: Sendable, Hashable, Comparable, CustomStringConvertible {
    package let uuid: UUIDValue

    package init(_ uuid: UUIDValue) {
        self.uuid = uuid
    }

    package var description: String { uuid.description }

    package static func < (left: VerificationID, right: VerificationID) -> Bool {
        left.uuid < right.uuid
    }
}

/// The id of a send, a UUIDv7: the reference passed to the provider.
package struct SendID: Sendable, Hashable, Comparable, CustomStringConvertible {
    package let uuid: UUIDValue

    package init(_ uuid: UUIDValue) {
        self.uuid = uuid
    }

    package var description: String { uuid.description }

    package static func < (left: SendID, right: SendID) -> Bool {
        left.uuid < right.uuid
    }
}
