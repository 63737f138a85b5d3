// SPDX-License-Identifier: Apache-2.0

import Formats
import Foundation
import SettingsReading
import Verification

/// Builds the record of a request that is explained and never sent.
enum ExplainedRecord {
    /// A record with the value; a `specversion` member marks a CloudEvent in structured mode.
    static func make(value: [UInt8], at now: Timestamp) -> InboundRecord {
        var headers: [RecordField] = []
        if case .object(let object)? = try? JSONScanner.parse(value), object["specversion"] != nil {
            headers = [RecordField(name: "content-type", value: Array("application/cloudevents+json".utf8))]
        }
        return InboundRecord(
            topic: "explained",
            partition: 0,
            offset: 0,
            timestamp: now,
            key: nil,
            value: value,
            headers: headers
        )
    }

    /// The recipient of a request that is built from options.
    struct Recipient {
        let channel: Channel
        let address: String

        /// The target that a link redirects to.
        var url: String?
    }

    static func json(
        _ recipient: Recipient,
        purpose: String,
        tenant: String,
        subject: String?,
        ip: String?,
        isConfirmed: Bool
    ) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { request in
            request.member("requestId", "explained")
            request.member("tenant", tenant)
            request.member("channel", recipient.channel.rawValue)
            request.member("purpose", purpose)
            request.object("recipient") { fields in
                fields.member(recipient.channel == .email ? "email" : "phoneNumber", recipient.address)
                fields.member("confirmed", isConfirmed)
            }
            if let url = recipient.url {
                request.object("actionCode") { fields in
                    fields.member("url", url)
                    fields.member("handleCodeInApp", true)
                }
            }
            request.member("subject", ifPresent: subject)
            if let ip { request.object("client") { $0.member("ip", ip) } }
        }
        return writer.bytes
    }

    /// The bytes of a file, or of standard input for `-`.
    static func read(_ path: String) throws -> [UInt8] {
        do {
            if path == "-" { return Array(try FileHandle.standardInput.readToEnd() ?? Data()) }
            return Array(try TextFile.read(path, maximumBytes: YAMLDocument.maximumBytes).utf8)
        } catch let unreadable as TextFile.Unreadable {
            throw StartFailure.report(["\(path) \(unreadable.reason)"])
        } catch {
            throw StartFailure.report(["standard input cannot be read"])
        }
    }
}
