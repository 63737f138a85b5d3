// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Formats
import Foundation
import LogReading
import Logs
import Synchronization
import Verification

struct TopCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Shows in a terminal what a fleet does now, from its workers' logs.",
        discussion: """
            Rates and latencies are those of the last minute: totals, a row for each
            worker and each provider with its breaker, refusals by reason, and the last
            warning. A provider whose breaker is half open gets the next message as
            a probe. q or Ctrl-C ends it. Logs must be in format json or otel
            (log.format), at level info or below. Without a terminal it prints one line
            every ten seconds of the log.

              tail -qF worker-*.log | code-courier top
              journalctl -u 'code-courier@*' -o cat -f | code-courier top
              kubectl logs -f -l app.kubernetes.io/name=code-courier \\
                --max-log-requests=50 | code-courier top
              code-courier top worker.log

            A file is followed as it grows and when it is rotated. For a page with the
            whole history: code-courier report.
            """
    )

    @Argument(help: ArgumentHelp("The log; - is standard input.", valueName: "logfile"))
    var log = "-"

    func validate() throws {
        guard log != "-" || isatty(STDIN_FILENO) == 0 else {
            throw ValidationError("standard input is a terminal: pipe a log into it, or name a file")
        }
    }

    func run() throws {
        do throws(LogFault) {
            var loop = TopLoop(try LiveLog(path: log))
            EndingSignal.trap()
            guard let terminal = Terminal() else { return try loop.print() }
            defer { terminal.leave() }
            try loop.run(on: terminal)
        } catch {
            throw StartFailure.report([error])
        }
    }
}

/// Records a signal to end, so that the terminal is restored before the process ends.
private enum EndingSignal {
    private static let hasCome = Atomic(false)

    static var isHere: Bool { hasCome.load(ordering: .relaxed) }

    /// Installs handlers: an ending signal ends the loop, and a resized window interrupts its wait.
    static func trap() {
        _ = isHere
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number) { _ in EndingSignal.hasCome.store(true, ordering: .relaxed) }
        }
        signal(SIGWINCH) { _ in }
    }
}

/// Reads log entries and shows the fleet, until the end of the log, a key or a signal.
private struct TopLoop {
    private let log: LiveLog
    private var fleet = FleetNow()
    private var clock = LogClock()

    /// The interval at which the screen is redrawn without new entries.
    private static let pace = Duration.seconds(1)

    /// The maximum wait in milliseconds: a growing file sends no notification.
    private static let longestWait: Int32 = 200

    /// The interval between lines on a pipe, in the log's time.
    private static let printed = Duration.seconds(10)

    /// The number of lines without an entry after which a warning is printed.
    private static let foreignLines = 100

    init(_ log: LiveLog) {
        self.log = log
    }

    mutating func run(on terminal: Terminal) throws(LogFault) {
        let colours = OutputStyle.current.hasColours
        var drawn: (size: Terminal.Size, at: ContinuousClock.Instant)?
        while !EndingSignal.isHere {
            try wait(keyboard: terminal.keyboard) { _ in }
            if terminal.isQuitHit() { return }
            let size = terminal.size
            if let drawn, drawn.size == size, drawn.at.duration(to: .now) < Self.pace { continue }
            drawn = (size, .now)
            fleet.forget(at: now)
            terminal.draw(screen.lines(width: size.width, height: size.height, colours: colours))
        }
    }

    mutating func print() throws(LogFault) {
        var next: Timestamp?
        var isReported = false
        while !EndingSignal.isHere, !log.isOver {
            try wait(keyboard: nil) { loop in
                let newest = loop.now
                guard newest >= next ?? newest + Self.printed else {
                    next = next ?? newest + Self.printed
                    return
                }
                next = newest + Self.printed
                loop.fleet.forget(at: newest)
                printOutput([loop.screen.summary])
            }
            if !isReported, log.tally.lines >= Self.foreignLines, let doubt = log.tally.doubt {
                printError("code-courier: \(doubt)")
                isReported = true
            }
        }
        if fleet.newest != nil { printOutput([screen.summary]) }
    }

    /// Waits for bytes, a key or a deadline, and reads new entries; calls `onHeartbeat` for each heartbeat.
    private mutating func wait(keyboard: Int32?, _ onHeartbeat: (inout TopLoop) -> Void) throws(LogFault) {
        // While a file has more entries, it is read without a wait.
        if log.waitable == nil, try take(onHeartbeat) { return }
        var places = [log.waitable, keyboard].compactMap(\.self).map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        let ready = poll(&places, nfds_t(places.count), Self.longestWait)
        if log.waitable != nil, ready > 0, places[0].revents != 0 { _ = try take(onHeartbeat) }
    }

    /// Reads the available entries; false when there are none.
    private mutating func take(_ onHeartbeat: (inout TopLoop) -> Void) throws(LogFault) -> Bool {
        guard let entries = try log.next() else { return false }
        let instant = ContinuousClock.now
        let machineTime = Timestamp.now
        for entry in entries {
            let isHeartbeat = fleet.add(entry, clock: machineTime, now: clock.now(at: instant))
            if let newest = fleet.newest { clock.reach(newest, at: instant) }
            if isHeartbeat { onHeartbeat(&self) }
        }
        return true
    }

    private var screen: TopScreen { TopScreen(fleet, tally: log.tally, now: now, isOver: log.isOver) }

    /// The log's own time, which stops at the end of the log.
    private var now: Timestamp { (log.isOver ? fleet.newest : clock.now(at: .now)) ?? .now }
}
