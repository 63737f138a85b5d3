// SPDX-License-Identifier: Apache-2.0

/// Pieces of HTML.
///
/// Whatever comes from a log goes through `escape`.
enum Markup {
    /// The text as HTML shows it, in an element or in a quoted attribute.
    ///
    /// Characters that nobody sees, such as those that turn the direction of what follows, are shown as replaced.
    static func escape(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default:
                switch scalar.properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: escaped += "\u{fffd}"
                default: escaped.unicodeScalars.append(scalar)
                }
            }
        }
        return escaped
    }

    /// A table whose first column names its rows.
    static func table(caption: String, head: [String], rows: [[String]]) -> String {
        let heads = head.map { "<th scope=\"col\">\(escape($0))</th>" }.joined()
        let body = rows.map { row in
            let cells = row.enumerated().map { column, cell in
                column == 0 ? "<th scope=\"row\">\(escape(cell))</th>" : "<td>\(escape(cell))</td>"
            }
            return "<tr>\(cells.joined())</tr>"
        }
        return """
            <div class="scroll" tabindex="0"><table><caption>\(escape(caption))</caption>
            <thead><tr>\(heads)</tr></thead>
            <tbody>
            \(body.joined(separator: "\n"))
            </tbody></table></div>
            """
    }

    /// The table that says the same as a chart.
    static func folded(_ table: String) -> String {
        "<details><summary>As a table</summary>\n\(table)\n</details>"
    }

    static func legend(_ entries: [(name: String, style: String)]) -> String {
        let items = entries.map { "<li><i class=\"\($0.style)\"></i>\(escape($0.name))</li>" }
        return "<ul class=\"legend\">\(items.joined())</ul>"
    }
}

/// The classes that give a series its colour: fixed for what has a meaning, in turn for the rest.
enum Palette {
    private static let meanings = [
        "sent": "c-sent", "accepted": "c-sent", "delivered": "c-delivered", "suppressed": "c-suppressed",
        "rejected": "c-rejected", "refused": "c-rejected", "expired_unsent": "c-late", "throttled": "c-late",
        "undelivered": "c-undelivered", "impossible": "c-undelivered", "failed": "c-failed", "notSent": "c-failed",
        "fraud": "c-suppressed", "optedOut": "c-rejected", "misconfigured": "c-expired",
        "unknown": "c-unknown", "expired": "c-expired", "p50": "c-sent", "p90": "c-rejected", "p99": "c-failed",
    ]

    static func style(_ name: String, at index: Int = 0) -> String {
        meanings[name] ?? "c-\(index % 5)"
    }

    /// The order in which a reader looks for outcomes; what is not named comes last, by name.
    private static let order = [
        "sent", "accepted", "delivered", "suppressed", "rejected", "refused", "expired_unsent", "throttled",
        "undelivered",
        "impossible", "optedOut", "notSent", "failed", "fraud", "misconfigured", "unknown", "expired",
    ]

    static func ordered(_ names: some Sequence<String>) -> [String] {
        names.sorted { (place($0), $0) < (place($1), $1) }
    }

    private static func place(_ name: String) -> Int { order.firstIndex(of: name) ?? order.count }
}
