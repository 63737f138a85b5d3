// SPDX-License-Identifier: Apache-2.0

/// A W3C trace context, propagated from a request to every event that it causes.
///
/// An invalid context never fails a message: it is read as nil, and a new trace begins.
package struct TraceContext: Sendable, Hashable {
    /// The context as a version 00 `traceparent` value: `00-`, trace id, `-`, parent id, `-`, flags.
    package let traceparent: String

    /// The vendors' list, opaque; at most 512 printable ASCII characters.
    package let state: String?

    /// Reads a `traceparent` value and, if it is valid, the `tracestate` beside it.
    ///
    /// Version 00 has exactly 55 characters. Of a later version the same 55 are read if a hyphen or nothing follows,
    /// and of its flags only the sampled bit, whose meaning is fixed. Version ff is invalid.
    package init?(traceparent: [UInt8], tracestate: [UInt8]? = nil) {
        guard traceparent.count >= 55 else { return nil }
        let hyphen = UInt8(ascii: "-")
        guard traceparent[2] == hyphen, traceparent[35] == hyphen, traceparent[52] == hyphen else { return nil }
        guard let version = Self.byte(traceparent[0..<2]), version != 0xff else { return nil }
        guard traceparent.count == 55 || (version != 0 && traceparent[55] == hyphen) else { return nil }
        guard Self.isIdentifier(traceparent[3..<35]), Self.isIdentifier(traceparent[36..<52]) else { return nil }
        guard let flags = Self.byte(traceparent[53..<55]) else { return nil }
        let identifiers = String(decoding: traceparent[3..<53], as: UTF8.self)
        self.traceparent = "00-\(identifiers)" + hexadecimal([version == 0 ? flags : flags & 1])
        state = tracestate.flatMap(Self.readableState)
    }

    /// Reads the format of `bytes`; nil for any other bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 25 else { return nil }
        let digits = Array(hexadecimal(bytes).utf8)
        let hyphen = [UInt8(ascii: "-")]
        let text = Array("00-".utf8) + digits[..<32] + hyphen + digits[32..<48] + hyphen + digits[48...]
        self.init(traceparent: text)
    }

    /// The ids and the flags, without `state`: 16, 8 and 1 bytes.
    package var bytes: [UInt8] {
        Hexadecimal.bytes(traceparent.utf8.dropFirst(3).filter { $0 != UInt8(ascii: "-") }) ?? []
    }

    /// 32 lower-case hex digits, not all zero.
    package var traceID: String { String(traceparent.dropFirst(3).prefix(32)) }

    /// 16 lower-case hex digits, not all zero: the span that sent the message.
    package var parentID: String { String(traceparent.dropFirst(36).prefix(16)) }

    /// The trace flags; bit 0 means that the caller samples the trace.
    package var flags: UInt8 { UInt8(traceparent.suffix(2), radix: 16) ?? 0 }

    private static func readableState(_ bytes: [UInt8]) -> String? {
        guard (1...512).contains(bytes.count), bytes.allSatisfy({ (0x20...0x7e).contains($0) }) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isIdentifier(_ digits: ArraySlice<UInt8>) -> Bool {
        digits.allSatisfy(isLowerHex) && digits.contains { $0 != UInt8(ascii: "0") }
    }

    private static func byte(_ digits: ArraySlice<UInt8>) -> UInt8? {
        guard digits.allSatisfy(isLowerHex) else { return nil }
        return UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    private static func isLowerHex(_ byte: UInt8) -> Bool {
        Hexadecimal.value(of: byte) != nil && !(0x41...0x46).contains(byte)
    }
}
