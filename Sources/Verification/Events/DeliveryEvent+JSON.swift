// SPDX-License-Identifier: Apache-2.0

import Formats

extension DeliveryEvent {
    /// The event's value in the format of `schemas/kafka/delivery.schema.json`.
    package var json: [UInt8] {
        var writer = JSONWriter(reserving: 768)
        writer.object { event in
            event.member("verificationId", ifPresent: verification?.id.description)
            event.member("requestId", description.requestID)
            event.member("tenant", description.tenant)
            event.member("channel", ifPresent: description.channel?.rawValue)
            event.member("purpose", ifPresent: description.purpose?.rawValue)
            event.member("subject", ifPresent: description.subject)
            event.member("sequence", verification?.sequence ?? 1)
            event.member("status", status.rawValue)
            event.member("reason", ifPresent: reason?.word)
            event.member("originalReason", ifPresent: originalReason)
            event.member("retryAfter", ifPresent: retryAfter?.rfc3339)
            event.member("rule", ifPresent: rule)
            event.member("field", ifPresent: field)
            writeRecipient(&event)
            writeSend(&event)
            writeVerification(&event)
            event.member("fictional", verification?.isFictional ?? false)
            event.member("policyVersion", policyVersion)
            event.member("occurredAt", occurredAt.rfc3339)
        }
        return writer.bytes
    }

    private func writeRecipient(_ event: inout JSONWriter) {
        guard description.masked != nil || description.region != nil || description.fingerprint != nil else { return }
        event.object("recipient") { recipient in
            recipient.member("masked", ifPresent: description.masked)
            recipient.member("region", ifPresent: description.region?.code)
            recipient.member("fingerprint", ifPresent: description.fingerprint.map(hexadecimal))
        }
    }

    private func writeSend(_ event: inout JSONWriter) {
        guard let send else { return }
        event.object("send") { writer in
            writer.member("id", send.id.description)
            writer.member("number", Int(send.number))
            writer.member("max", Int(send.max))
            writer.member("provider", ifPresent: send.provider)
            writer.member("providerMessageId", ifPresent: send.providerMessageID)
            writer.member("segments", ifPresent: send.segments)
            writer.member("encoding", ifPresent: send.encoding)
            writer.member("errorCode", ifPresent: send.errorCode)
        }
    }

    private func writeVerification(_ event: inout JSONWriter) {
        guard let verification else { return }
        event.object("code") { code in
            code.member("length", ifPresent: verification.codeLength.map { Int($0) })
            code.member("generation", verification.generation)
        }
        event.member("resendAfter", verification.resendAfter.rfc3339)
        event.member("expiresAt", verification.expiresAt.rfc3339)
        event.member("sendsLeft", Int(verification.sendsLeft))
    }
}
