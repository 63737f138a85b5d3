// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing
import Verification

@testable import LogReading

@Suite struct LineReadingTests {
    @Test(arguments: [1, 2, 3, 7, 1000])
    func `Lines come whole, however the bytes are cut`(size: Int) {
        let text = Array("one\n\ntwo\r\nthree\nfour".utf8)
        var buffer = LineBuffer()
        var lines: [LineBuffer.Line] = []
        for start in stride(from: 0, to: text.count, by: size) {
            buffer.append(text[start..<min(start + size, text.count)])
            while let line = buffer.next() { lines.append(line) }
        }
        if let line = buffer.rest() { lines.append(line) }
        #expect(lines == ["one", "", "two\r", "three", "four"].map { .whole(Array($0.utf8)) })
    }

    @Test func `A line without end takes no memory without end, and the next one is read`() {
        var buffer = LineBuffer()
        let part = [UInt8](repeating: UInt8(ascii: "x"), count: 100_000)
        for _ in 0..<20 {
            buffer.append(part)
            #expect(buffer.next() == nil)
        }
        buffer.append(Array("\nnext\n".utf8))
        #expect(buffer.next() == .tooLong)
        #expect(buffer.next() == .whole(Array("next".utf8)))
        #expect(buffer.next() == nil)
        #expect(buffer.rest() == nil)
    }

    private func events(_ bytes: [UInt8]) throws -> [String] {
        let file = try ScratchFile([])
        try Data(bytes).write(to: URL(filePath: file.path))
        let files = try LogFiles(paths: [file.path])
        var events: [String] = []
        while let (entry, _) = try files.next() { events.append(entry.event) }
        #expect(files.tally.broken == 0)
        // The same file, followed live.
        let live = try LiveLog(path: file.path)
        var followed: [String] = []
        while let entries = try live.next() { followed += entries.map(\.event) }
        #expect(followed == events || bytes.last != UInt8(ascii: "\n"))
        return events
    }

    @Test func `A line that CRI-O or containerd has split is one line, stream by stream`() throws {
        let long = LogSample.line(1, "a").utf8.map { $0 }
        let (first, second) = (long[..<20], long[20...])
        let cri = "2026-11-20T12:00:00.123456789Z"
        func part(_ head: String, _ bytes: some Collection<UInt8>) -> [UInt8] {
            Array("\(cri) \(head) ".utf8) + bytes + [UInt8(ascii: "\n")]
        }
        let lines =
            part("stdout P", first) + part("stderr P", first) + part("stdout P", second.prefix(3))
            + part("stdout F", second.dropFirst(3)) + part("stderr F", second)
            + part("stdout F", LogSample.line(2, "b").utf8) + part("stdout F:tag", LogSample.line(3, "c").utf8)
        #expect(try events(lines) == ["a", "a", "b", "c"])
    }

    @Test func `Docker's own files are read, with the lines that it has split`() throws {
        let long = LogSample.line(1, "a")
        func wrap(_ text: String) throws -> String {
            let object = ["log": text]
            let data = try JSONSerialization.data(withJSONObject: object, options: .withoutEscapingSlashes)
            return String(decoding: data.dropLast(), as: UTF8.self)
                + #","stream":"stdout","time":"2026-11-20T12:00:00Z"}"#
        }
        let lines = [
            try wrap(String(long.prefix(30))), try wrap(String(long.dropFirst(30)) + "\n"),
            try wrap(LogSample.line(2, "b") + "\n"),
        ]
        #expect(try events(Array((lines.joined(separator: "\n") + "\n").utf8)) == ["a", "b"])
    }

    @Test(arguments: [true, false], [true, false])
    func `A log that PowerShell has written in UTF-16 is read`(isLittleEndian: Bool, hasMark: Bool) throws {
        let text =
            [LogSample.line(1, "a"), LogSample.line(2, "𝒷"), LogSample.line(3, "c")].joined(separator: "\r\n") + "\r\n"
        let units = (hasMark ? [0xfeff] : []) + Array(text.utf16)
        let bytes = units.flatMap { unit -> [UInt8] in
            let (low, high) = (UInt8(truncatingIfNeeded: unit), UInt8(truncatingIfNeeded: unit >> 8))
            return isLittleEndian ? [low, high] : [high, low]
        }
        #expect(try events(bytes) == ["a", "𝒷", "c"])
    }

    @Test func `UTF-16 that comes byte by byte loses no character`() {
        var lines = LogLines()
        let units = Array("\u{feff}a🔑é\nb".utf16)
        var found: [LineBuffer.Line] = []
        for unit in units {
            for byte in [UInt8(truncatingIfNeeded: unit), UInt8(truncatingIfNeeded: unit >> 8)] {
                lines.append([byte])
                if let line = lines.next() { found.append(line) }
            }
        }
        if let line = lines.rest() { found.append(line) }
        #expect(found == [.whole(Array("\u{feff}a🔑é".utf8)), .whole(Array("b".utf8))])
    }

    @Test func `Parts without an end are bounded and no line`() {
        var lines = LogLines()
        let part = Array("2026-11-20T12:00:00Z stdout P ".utf8) + [UInt8](repeating: 0x78, count: 100_000) + [0x0a]
        for _ in 0..<2 {
            lines.append(part)
            #expect(lines.next() == nil)
        }
        lines.append(part)
        #expect(lines.next() == .tooLong)
        lines.append(Array("2026-11-20T12:00:00Z stdout P x\n".utf8))
        #expect(lines.next() == nil)
        #expect(lines.rest() == .whole([0x78]))
        #expect(lines.rest() == nil)
    }

    @Test func `Several logs are merged by time, and broken lines are counted and skipped`() throws {
        let first = try ScratchFile([
            LogSample.line(1, "a"), "broken", LogSample.line(4, "d"), "",
        ])
        let second = try ScratchFile([
            LogSample.line(2, "b"), LogSample.line(3, "c"), #"{"timestamp":"2026-11-20T12:00"#,
        ])
        let files = try LogFiles(paths: [first.path, second.path])
        var events: [String] = []
        while let (entry, file) = try files.next() {
            events.append(entry.event)
            #expect(file == (["a", "d"].contains(entry.event) ? first.path : second.path))
        }
        #expect(events == ["a", "b", "c", "d"])
        #expect(files.tally.lines == 6)
        #expect(files.tally.broken == 2)
    }

    @Test func `A log in format text is refused with a hint`() throws {
        let file = try ScratchFile(["12:00:00.000 NOTICE worker.started: worker started"])
        let fault = #expect(throws: LogFault.self) { try LogFiles(paths: [file.path]) }
        #expect(fault == .foreign(path: file.path))
        #expect("\(LogFault.foreign(path: "x"))".contains("log.format"))
    }

    @Test func `Of several logs those without an entry are left out and named, unless all are`() throws {
        let log = try ScratchFile([LogSample.line(1, "a"), "broken"])
        let text = try ScratchFile(["worker.yaml:7: kafka.bootstrapServers is missing"])
        let packed = try ScratchFile(["\u{1f}\u{8b}\u{8}", "\u{0}\u{3}"])
        let files = try LogFiles(paths: [text.path, log.path, packed.path])
        #expect(try files.next()?.entry.event == "a")
        #expect(try files.next() == nil)
        #expect(files.foreign == [text.path, packed.path])
        #expect(files.tally.lines == 2 && files.tally.broken == 1)
        #expect(throws: LogFault.foreign(path: text.path)) { try LogFiles(paths: [text.path, packed.path]) }
    }

    @Test func `An empty log is no fault, and a missing one is`() throws {
        let file = try ScratchFile([])
        #expect(try LogFiles(paths: [file.path]).next() == nil)
        #expect(throws: LogFault.unreadable(path: "/nowhere/at/all", reason: "No such file or directory")) {
            try LogFiles(paths: ["/nowhere/at/all"])
        }
    }

    @Test func `A followed file is read on when it grows, when it is rotated and when it is cut`() throws {
        let file = try ScratchFile([LogSample.line(1, "a")])
        let log = try LiveLog(path: file.path)
        func events() throws -> [String] {
            var events: [String] = []
            // The read that finds no more data opens the rotated file.
            for _ in 0..<4 { events += try log.next()?.map(\.event) ?? [] }
            return events
        }
        #expect(try events() == ["a"])
        try file.append(LogSample.line(2, "b"))
        #expect(try events() == ["b"])
        try FileManager.default.moveItem(atPath: file.path, toPath: file.path + ".1")
        try file.write([LogSample.line(3, "c")])
        #expect(try events() == ["c"])
        try file.truncate()
        #expect(try events() == [])
        try file.append(LogSample.line(4, "d"))
        #expect(try events() == ["d"])
        #expect(!log.isOver)
    }

    @Test func `A followed log may begin with any number of lines that are no entry`() throws {
        let file = try ScratchFile([String](repeating: "words", count: 150))
        let log = try LiveLog(path: file.path)
        #expect(try log.next()?.isEmpty == true)
        #expect(log.tally.isForeign && log.tally.lines == 150)
        try file.append(LogSample.line(1, "a"))
        #expect(try log.next()?.map(\.event) == ["a"])
        #expect(!log.tally.isForeign && log.tally.doubt == nil)
    }

    @Test func `That no line of a stream is an entry is a fault at its end, and not before`() throws {
        let file = try ScratchFile([])
        defer { withExtendedLifetime(file) {} }
        let (path, writer) = try namedPipe(beside: file)
        let log = try LiveLog(path: path)
        try writer.write(contentsOf: Data(String(repeating: "words\n", count: 150).utf8))
        #expect(try log.next()?.isEmpty == true)
        try writer.close()
        #expect(throws: LogFault.foreign(path: path)) { try log.next() }
    }

    /// The path of a named pipe and its writer, which opens it for both directions so that neither open blocks.
    private func namedPipe(beside file: ScratchFile) throws -> (path: String, writer: FileHandle) {
        let path = file.path + ".pipe"
        try #require(mkfifo(path, 0o600) == 0)
        return (path, try #require(FileHandle(forUpdatingAtPath: path)))
    }

    @Test func `A path that is a pipe can be waited on, and ends with its writer`() throws {
        let file = try ScratchFile([])
        let (path, writer) = try namedPipe(beside: file)
        let log = try LiveLog(path: path)
        let waitable = try #require(log.waitable)
        func isReady() -> Bool {
            var place = pollfd(fd: waitable, events: Int16(POLLIN), revents: 0)
            return poll(&place, 1, 0) > 0
        }
        #expect(!isReady())
        try writer.write(contentsOf: Data("\(LogSample.line(1, "a"))\n".utf8))
        #expect(isReady())
        #expect(try log.next()?.map(\.event) == ["a"])
        try writer.close()
        #expect(try log.next()?.isEmpty == true)
        #expect(log.isOver && log.waitable == nil)
        #expect(try LiveLog(path: file.path).waitable == nil)
    }
}

/// A file of lines, deleted with its folder.
final class ScratchFile {
    private let folder: URL
    var path: String { folder.appending(path: "worker.log").path }

    init(_ lines: [String]) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "log-reading-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try write(lines)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    func write(_ lines: [String]) throws {
        try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: URL(filePath: path))
    }

    func append(_ line: String) throws {
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        defer { try? file.close() }
        try file.seekToEnd()
        try file.write(contentsOf: Data("\(line)\n".utf8))
    }

    func truncate() throws {
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        defer { try? file.close() }
        try file.truncate(atOffset: 0)
    }
}
