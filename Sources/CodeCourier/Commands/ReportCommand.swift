// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Formats
import Foundation
import LogReading
import Logs
import Verification

struct ReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Makes one HTML page with charts from workers' logs.",
        discussion: """
            It shows incidents first, then throughput, outcomes by region and by
            provider, latencies, lag, refusals by reason, unknown outcomes, paused
            providers, errors and workers. The page loads nothing and holds only
            what the lines say. Logs must be in format json or otel
            (log.format), at level info or below; lines of other programs and broken
            ones are counted and skipped, and a log without an entry is named and left
            out. Several logs are merged by time, in bounded memory. Those that come one
            after the other, as pods' do, keep their times as well; for the lag of all
            workers together they have to be sorted, which sort does in format json and
            not in otel.

              code-courier report worker-*.log --output report.html
              journalctl -u 'code-courier@*' -o cat | code-courier report - > r.html
              kubectl logs -l app.kubernetes.io/name=code-courier --tail=-1 \\
                | sort | code-courier report - > r.html

            For the same live in a terminal: code-courier top.
            """
    )

    @Argument(help: ArgumentHelp("The logs; - is standard input.", valueName: "logfile"))
    var logs: [String]

    @Option(help: ArgumentHelp("Where to write the page; default: standard output.", valueName: "report.html"))
    var output: String?

    @Option(help: "Leave out what is older: a time, a date, or a span before now such as 6h.")
    var from = TimeArgument.beginning

    @Option(help: "Leave out what is newer, in the same words.")
    var to = TimeArgument.now

    func validate() throws {
        guard logs.count(where: { $0 == "-" }) <= 1 else { throw ValidationError("standard input can be read once") }
    }

    func run() throws {
        let page: String
        do {
            page = try read().html
        } catch {
            throw StartFailure.report([error])
        }
        guard let output, output != "-" else {
            printOutput(Array(page.utf8))
            return
        }
        do {
            try Data(page.utf8).write(to: URL(filePath: output))
        } catch {
            throw StartFailure.report(["--output: \(output) cannot be written"])
        }
    }

    private func read() throws(LogFault) -> ReportPage {
        let now = Timestamp.now
        let first = from.time(before: now)
        // A log may come from a machine whose clock is ahead: without `--to` nothing is cut off.
        let last = to == .now ? nil : to.time(before: now)
        let files = try LogFiles(paths: logs)
        let progress = ProgressLines { "code-courier: \($0.grouped) entries read" }
        var history = FleetHistory()
        var count = 0
        while let (entry, file) = try files.next() {
            count += 1
            if count.isMultiple(of: 10_000) { progress.show(count) }
            if let first, entry.time < first { continue }
            if let last, entry.time > last { continue }
            history.add(entry, from: file)
        }
        history.finish()
        return ReportPage(
            history,
            tally: files.tally,
            sources: logs.map { $0 == "-" ? "standard input" : $0 },
            foreign: files.foreign
        )
    }
}
