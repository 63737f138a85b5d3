// SPDX-License-Identifier: Apache-2.0

import Glibc
import SettingsReading

/// The file with a worker's state, replaced atomically so that a reader always sees a complete state.
struct HealthFile: Sendable {
    let path: String

    /// A failed system call.
    struct Failure: Error, CustomStringConvertible {
        let call: String
        let code: Int32

        var description: String { "cannot be written: \(call): \(String(cString: strerror(code)))" }
    }

    /// Replaces the content atomically.
    func write(_ bytes: [UInt8]) throws(Failure) {
        let next = "\(path).next"
        let descriptor = open(next, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw Failure(call: "open", code: errno) }
        let count = bytes.withUnsafeBytes { Self.write(descriptor, $0) }
        let code = errno
        close(descriptor)
        guard count == bytes.count else { throw Failure(call: "write", code: count < 0 ? code : ENOSPC) }
        guard rename(next, path) == 0 else { throw Failure(call: "rename", code: errno) }
    }

    /// Reads and parses the state.
    func state() throws(TextFile.Unreadable) -> WorkerState {
        let text = try TextFile.read(path, maximumBytes: 65_536)
        guard let state = WorkerState(json: text.utf8) else {
            throw TextFile.Unreadable(reason: "holds no state of a worker")
        }
        return state
    }

    /// Reads the state and judges it.
    func verdict(at now: MonotonicTime) -> HealthVerdict {
        do throws(TextFile.Unreadable) {
            return HealthVerdict(of: try state(), at: now)
        } catch {
            return HealthVerdict(without: error)
        }
    }

    func remove() {
        unlink(path)
    }

    private static func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        while true {
            let count = Glibc.write(descriptor, bytes.baseAddress, bytes.count)
            if count >= 0 || errno != EINTR { return count }
        }
    }
}
