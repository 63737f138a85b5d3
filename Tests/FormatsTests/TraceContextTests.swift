// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Formats

@Suite struct TraceContextTests {
    static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    static let parent = "00f067aa0ba902b7"

    private func parsed(_ text: String, state: String? = nil) -> TraceContext? {
        TraceContext(traceparent: Array(text.utf8), tracestate: state.map { Array($0.utf8) })
    }

    @Test(arguments: ["00", "01", "0a", "ff"])
    func `a traceparent is read and written the same`(flags: String) throws {
        let text = "00-\(Self.trace)-\(Self.parent)-\(flags)"
        let context = try #require(parsed(text))
        #expect(context.traceID == Self.trace && context.parentID == Self.parent)
        #expect(context.traceparent == text)
        #expect(context.bytes.count == 25 && TraceContext(bytes: context.bytes) == context)
    }

    @Test(arguments: [[], [1], [UInt8](repeating: 0, count: 25), [UInt8](repeating: 1, count: 26)])
    func `bytes that no context wrote are nil`(bytes: [UInt8]) {
        #expect(TraceContext(bytes: bytes) == nil)
    }

    @Test(
        arguments: [
            "", "00", "00-\(trace)-\(parent)", "00-\(trace)-\(parent)-1", "00-\(trace)-\(parent)-01-",
            "00-\(trace)-\(parent)-011",
            "ff-\(trace)-\(parent)-01", "0G-\(trace)-\(parent)-01", "00-\(trace.uppercased())-\(parent)-01",
            "00-00000000000000000000000000000000-\(parent)-01", "00-\(trace)-0000000000000000-01",
            "00-\(trace)-\(parent)-0A", "00-\(trace)-\(parent)-zz", "00_\(trace)-\(parent)-01",
            "00-\(trace)_\(parent)-01",
            "00-\(trace)-\(parent)_01", " 00-\(trace)-\(parent)-01", "01-\(trace)-\(parent)-01x",
            "00-\(trace)x\(parent)-01",
            "00-\(trace.dropLast())g-\(parent)-01", "+0-\(trace)-\(parent)-01", "00-\(trace)-\(parent)-+1",
        ]
    )
    func `a broken traceparent is nil`(text: String) {
        #expect(parsed(text) == nil)
    }

    @Test func `of a later version the known part is read`() throws {
        for text in ["01-\(Self.trace)-\(Self.parent)-ff", "cc-\(Self.trace)-\(Self.parent)-03-what-comes"] {
            #expect(try #require(parsed(text)).traceparent == "00-\(Self.trace)-\(Self.parent)-01")
        }
    }

    @Test(
        arguments: [
            ("a=1,b=2", true), (String(repeating: "x", count: 512), true), (String(repeating: "x", count: 513), false),
            ("", false), ("a=\u{1}", false), ("a=é", false),
        ]
    )
    func `a tracestate is carried when it is printable and at most 512 long`(state: String, isCarried: Bool) throws {
        let context = try #require(parsed("00-\(Self.trace)-\(Self.parent)-01", state: state))
        #expect(context.state == (isCarried ? state : nil))
    }
}
