// SPDX-License-Identifier: Apache-2.0

/// Who waits for a delivery: asked and told by the thread that makes it.
package protocol SMTPListener: Sendable {
    /// Whether anybody still wants the message to go out; asked about once a second.
    var isWanted: Bool { get }

    /// Asked once, just before the end of the message is sent: on `false` the message is never completed.
    func mayComplete() -> Bool

    /// Told as soon as the outcome is certain, which may be well before the session has ended.
    func settled(_ result: SMTPResult)
}

/// One message on its way: hands its bytes out and follows what is said.
///
/// It belongs to the thread of the delivery.
final class SMTPTalk {
    private var content: ArraySlice<UInt8>
    private let listener: any SMTPListener
    private var transcript = SMTPTranscript()
    private var isComplete = false
    private var isSettled = false

    init(content: [UInt8], listener: any SMTPListener) {
        self.content = content[...]
        self.listener = listener
    }

    var isWanted: Bool { listener.isWanted }

    /// Copies the next bytes; 0 is the message's end, on which libcurl sends the final dot; nil gives up.
    func read(into room: UnsafeMutableRawBufferPointer) -> Int? {
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
        SMTPResult(
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
