// SPDX-License-Identifier: Apache-2.0

/// Receives the progress of a delivery, on the thread that makes it.
package protocol SMTPListener: Sendable {
    /// True while the message is still to be sent; read about once a second.
    var isWanted: Bool { get }

    /// Called once, just before the end of the message is sent: on `false` the message is never completed.
    func mayComplete() -> Bool

    /// Called as soon as the outcome is certain, which may be well before the session has ended.
    func settled(_ result: SMTPResult)
}

/// One message in flight: supplies its bytes and follows the session.
///
/// It is used only on the thread of the delivery.
final class SMTPTalk {
    private var content: ArraySlice<UInt8>
    private let needsUTF8: Bool
    private let listener: any SMTPListener
    private var transcript = SMTPTranscript()
    private var isComplete = false
    private var isSettled = false

    init(_ envelope: SMTPEnvelope, listener: any SMTPListener) {
        content = envelope.content[...]
        needsUTF8 = envelope.needsUTF8
        self.listener = listener
    }

    /// True while the session should continue.
    var isWanted: Bool { !lacksUTF8 && listener.isWanted }

    /// True when the MAIL command lacked SMTPUTF8 although an address needs it.
    ///
    /// The server's replies mean nothing from then on, and it never gets the message.
    private var lacksUTF8: Bool { needsUTF8 && transcript.step >= .sender && !transcript.usesUTF8 }

    /// Copies the next bytes; 0 is the message's end, after which libcurl sends the final dot; nil aborts.
    func read(into room: UnsafeMutableRawBufferPointer) -> Int? {
        guard !lacksUTF8 else { return nil }
        guard !content.isEmpty else {
            isComplete = isComplete || listener.mayComplete()
            return isComplete ? 0 : nil
        }
        let part = content.prefix(room.count)
        unsafe room.copyBytes(from: part)
        content = content.dropFirst(part.count)
        return part.count
    }

    func sent(_ line: UnsafeRawBufferPointer) {
        unsafe transcript.sent(line)
        settleIfCertain()
    }

    func received(_ line: UnsafeRawBufferPointer) {
        unsafe transcript.received(line)
        settleIfCertain()
    }

    func result(_ failure: SMTPFailure?) -> SMTPResult {
        if lacksUTF8 { return SMTPResult(step: transcript.step, reply: nil, failure: .utf8Unavailable) }
        return SMTPResult(
            step: transcript.step,
            reply: transcript.reply,
            enhanced: transcript.enhanced,
            isComplete: isComplete,
            failure: failure
        )
    }

    private func settleIfCertain() {
        guard transcript.isSettled, !isSettled else { return }
        isSettled = true
        listener.settled(result(nil))
    }
}
