// SPDX-License-Identifier: Apache-2.0

import Crypto
import Formats

/// A fleet's history as one self-contained HTML page, drawn by its own script from embedded figures.
package struct ReportPage {
    let history: FleetHistory
    let tally: LineTally

    /// The logs, as named on the command line.
    let sources: [String]

    /// The logs that were skipped because they contain no entry.
    let foreign: [String]

    package init(_ history: FleetHistory, tally: LineTally, sources: [String], foreign: [String] = []) {
        self.history = history
        self.tally = tally
        self.sources = sources
        self.foreign = foreign
    }

    package var html: String {
        let script = Embedded.`figures.js` + Embedded.`charts.js` + Embedded.`page.js`
        let hash = Base64.encode(Array(SHA256.hash(data: Array(script.utf8))))
        return Embedded.`page.html`
            .replacing("script-src 'none'", with: "script-src 'sha256-\(hash)'")
            .replacing("<style></style>", with: "<style>\(Embedded.`page.css`)</style>")
            .replacing("<script></script>", with: "<script>\(script)</script>")
            .replacing("json\"></script>", with: "json\">\(figures)</script>")
    }

    /// The history in JSON; `<` is escaped, since a tag could end the element that contains it.
    private var figures: String {
        var json = JSONWriter(reserving: 65_536)
        json.object { page in
            page.array("sources") { for source in sources { $0.element(source) } }
            page.array("foreign") { for log in foreign { $0.element(log) } }
            page.member("lines", tally.lines)
            page.member("broken", tally.broken)
            history.write(to: &page)
        }
        // By bytes, since a combining mark after `<`, such as U+0600, would merge with it into one character.
        let parts = json.bytes.split(separator: UInt8(ascii: "<"), omittingEmptySubsequences: false)
        return String(decoding: Array(parts.joined(separator: #"\u003c"#.utf8)), as: UTF8.self)
    }
}
