// SPDX-License-Identifier: Apache-2.0

import Formats

extension FleetHistory {
    /// Writes the members for the page's script.
    ///
    /// Times are in milliseconds since 1970, spans in milliseconds, and rows in the order of display.
    func write(to json: inout JSONWriter) {
        json.member("first", ifPresent: first?.milliseconds)
        json.member("last", last.milliseconds)
        json.member("entries", entries)
        json.member("heartbeats", heartbeats)
        json.member("wentBack", wentBack)
        json.member("requests", requests)
        json.member("repeats", repeats)
        json.member("deadLetters", deadLetters)
        json.sums("decisions", decisions.sums)
        json.table("regions", regions)
        json.table("providers", providers)
        json.ranks("rules", rules)
        json.object("brake") { brake in
            brake.member("refused", brakeRefused)
            brake.member("recorded", brakeRecorded)
            brake.member("mostBlocked", mostBlocked)
        }
        json.rows("routes", routes.rows) { route, row in
            row.member("tenant", route.tenant)
            row.member("region", route.region)
            row.member("provider", route.provider)
            row.member("share", route.share)
            row.member("conversion", route.conversion)
            row.member("messages", route.messages)
        }
        json.ranks("retries", retries)
        json.ranks("spend", spend)
        json.ranks("spendByRegion", spendByRegion)
        json.ranks("spendByBudget", spendByBudget)
        json.ranks("events", events)
        json.latencies(latencies)
        writeIncidents(to: &json)
        json.object("timeline") { timeline.write(to: &$0) }
        writePauses(to: &json)
        writeProblems(to: &json)
        writeWorkers(to: &json)
    }

    private func writeIncidents(to json: inout JSONWriter) {
        json.rows("incidents", incidents.incidents.sorted { ($0.from, $0.event) < ($1.from, $1.event) }) {
            incident,
            row in
            row.member("event", incident.event)
            row.member("detail", incident.detail)
            row.member("from", incident.from.milliseconds)
            row.member("to", ifPresent: incident.to?.milliseconds)
            row.array("workers") { for worker in incident.workers.sorted() { $0.element(worker) } }
        }
        json.member("omittedIncidents", incidents.omitted)
    }

    private func writePauses(to json: inout JSONWriter) {
        json.rows("pauses", pauses.pauses.sorted { $0.from < $1.from }) { pause, row in
            row.member("provider", pause.provider)
            row.member("worker", pause.worker)
            row.member("from", pause.from.milliseconds)
            row.member("to", pause.to.milliseconds)
        }
        json.member("omittedPauses", pauses.omitted)
    }

    private func writeProblems(to json: inout JSONWriter) {
        let problems = problems.values.sorted {
            ($1.kind.severity, $1.count, $0.kind.event, $0.kind.detail)
                < ($0.kind.severity, $0.count, $1.kind.event, $1.kind.detail)
        }
        json.rows("problems", problems) { problem, row in
            row.member("event", problem.kind.event)
            row.member("severity", "\(problem.kind.severity)")
            row.member("detail", problem.kind.detail)
            row.member("count", problem.count)
            row.member("first", problem.first.milliseconds)
            row.member("last", problem.last.milliseconds)
        }
    }

    private func writeWorkers(to json: inout JSONWriter) {
        json.rows("workers", workers.sorted { $0.key < $1.key }) { element, row in
            let worker = element.value
            row.member("name", element.key)
            row.member("first", worker.first.milliseconds)
            row.member("last", worker.last.milliseconds)
            row.member("uptime", ifPresent: worker.uptime?.inMilliseconds)
            row.member("hasStopped", worker.hasStopped)
            row.member("heartbeats", worker.heartbeats)
            row.member("requests", worker.requests)
            row.member("peakBytes", ifPresent: worker.peakBytes)
            row.member("cores", worker.coveredSeconds > 0 ? worker.cpuSeconds / worker.coveredSeconds : 0)
            row.array("gaps") { for gap in worker.gaps { $0.element(gap.length.inMilliseconds) } }
        }
    }
}

extension TimeBuckets {
    fileprivate func write(to json: inout JSONWriter) {
        json.member("start", origin.milliseconds)
        json.member("end", end.milliseconds)
        json.member("width", Duration.microseconds(width).inMilliseconds)
        json.rows("pieces", Array(buckets.enumerated())) { piece, row in
            row.member("seconds", seconds(of: piece.offset))
            row.member("requests", piece.element.requests)
            row.sums("decisions", piece.element.decisions)
            row.sums("spend", piece.element.spend)
            row.latencies(piece.element.latencies)
            row.member("lag", ifPresent: piece.element.lag)
            row.member("dueSends", ifPresent: piece.element.dueSends)
            row.member("outbox", ifPresent: piece.element.outbox)
        }
    }
}

extension JSONWriter {
    fileprivate mutating func rows<Row>(
        _ name: StaticString,
        _ rows: [Row],
        _ write: (Row, inout JSONWriter) -> Void
    ) {
        array(name) { array in
            for row in rows { array.object { write(row, &$0) } }
        }
    }

    fileprivate mutating func sums(_ name: StaticString, _ sums: [String: Double]) {
        object(name) { object in
            for (name, sum) in sums.sorted(by: { $0.key < $1.key }) { object.member(named: name, sum) }
        }
    }

    fileprivate mutating func ranks(_ name: StaticString, _ tally: Tally) {
        rows(name, tally.ranked) { rank, row in
            row.member("name", rank.name)
            row.member("sum", rank.sum)
        }
    }

    fileprivate mutating func table(_ name: StaticString, _ table: TallyTable) {
        rows(name, table.ranked) { rank, row in
            row.member("name", rank.name)
            row.sums("sums", rank.tally.sums)
        }
    }

    fileprivate mutating func latencies(_ latencies: [String: LatencySummary]) {
        rows("latencies", LatencySummary.ordered(latencies.keys)) { stage, row in
            guard let summary = latencies[stage] else { return }
            row.member("stage", stage)
            row.member("p50", summary.p50)
            row.member("p90", summary.p90)
            row.member("p99", summary.p99)
            row.member("max", summary.max)
        }
    }
}

extension Timestamp {
    fileprivate var milliseconds: Double { Double(microseconds) / 1000 }
}

extension Duration {
    fileprivate var inMilliseconds: Double { Double(microseconds) / 1000 }
}
