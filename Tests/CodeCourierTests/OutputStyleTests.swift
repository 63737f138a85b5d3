// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import CodeCourier

@Suite struct OutputStyleTests {
    private func table() -> [String] {
        var table = TextTable(numbers: [1], indent: 0)
        table.row("ring", "key", "state", "needed until", "advice")
        table.row("hash", "1", "reads", "2026-11-29T12:00:00Z", "may go: code-courier keys retire hash 1")
        table.row("seal", "12", "MISSING", "2026-11-29T12:00:00Z", "put it back at the end of the ring")
        return table.lines
    }

    @Test(arguments: [30, 40, 60, 80, 200])
    func `a table fits its terminal, and loses no word`(width: Int) {
        let lines = OutputStyle(width: width, hasColours: false).lines(table())
        #expect(lines.allSatisfy { $0.count <= width }, "\(lines)")
        let words = { (lines: [String]) in lines.flatMap { $0.split(separator: " ") } }
        #expect(words(lines) == words(table()))
        if width == 200 { #expect(lines == table()) }
    }

    @Test func `a long last cell continues below its beginning`() {
        var table = TextTable()
        table.row("to", "+49*****89")
        table.row("routes", "main, then backup; US: main; email: mail")
        let lines = OutputStyle(width: 40, hasColours: false).lines(table.lines)
        #expect(lines == ["  to      +49*****89", "  routes  main, then backup; US: main;", "          email: mail"])
    }

    @Test func `prose is broken at its words`() {
        let lines = OutputStyle(width: 20, hasColours: false).lines(["next: ask the provider for this id"])
        #expect(lines == ["next: ask the", "  provider for this", "  id"])
    }

    @Test func `a pipe gets lines as they are`() {
        let lines = table() + [String(repeating: "long ", count: 60)]
        #expect(OutputStyle(width: nil, hasColours: false).lines(lines) == lines)
    }

    @Test func `a state has its colour, and no other word has`() {
        let style = OutputStyle(width: 80, hasColours: true)
        #expect(style.lines(["12:00:00  sent            r1"]) == ["12:00:00  \u{1B}[32msent\u{1B}[0m            r1"])
        #expect(style.lines(["  event  failed / no_route"]) == ["  event  \u{1B}[31mfailed\u{1B}[0m / no_route"])
        #expect(style.lines(["next: wait"]) == ["\u{1B}[1mnext:\u{1B}[0m wait"])
        #expect(style.lines(["it was sent  by main", "sent by main"]) == ["it was sent  by main", "sent by main"])
    }

    @Test func `an event fits 80 columns with short ids, and a wide terminal has them whole`() {
        let event = EventLine(
            Array(
                #"""
                {"occurredAt":"2026-11-29T12:00:00.123456Z","requestId":"019a4f6e-6f10-7b11-9d22-33e44f556a66",
                "verificationId":"019a4f6e-6f10-7b11-9d22-33e44f550001","status":"rejected","reason":"quota_recipient",
                "recipient":{"masked":"+49*******89","region":"DE"}}
                """#.utf8
            )
        )
        #expect(event.text(width: 80) == "12:00:00  rejected      quota_recipient  …556a66  …550001  +49*******89 DE")
        #expect(event.text(width: 60) == "12:00:00  rejected      quota_recipient  …556a66  …550001")
        #expect(event.text(width: nil) == event.text && event.text(width: 300) == event.text)
        #expect(event.text.contains("verification=019a4f6e-6f10-7b11-9d22-33e44f550001"))
    }
}
