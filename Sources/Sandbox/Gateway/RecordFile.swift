// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import NIOCore
import Synchronization

/// A file of lines, each synced to disk before its `append` returns.
///
/// Lines that arrive during a sync share the next one. Writing and syncing block, so they run on a queue of their own.
final class RecordFile: Sendable {
    private struct Pending {
        let line: [UInt8]
        let continuation: CheckedContinuation<Void, any Error>
    }

    private let descriptor: Int32
    private let queue = DispatchQueue(label: "sandbox.record")
    private let pending = Mutex<[Pending]>([])

    /// Opens the file for appending, and creates it when it is missing.
    init(path: String) throws(SandboxError) {
        descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .recordFile(errno) }
    }

    /// Appends a line and its line feed; returns once it is synced.
    func append(_ line: some Sequence<UInt8>) async throws {
        let bytes = Array(line) + [UInt8(ascii: "\n")]
        try await withCheckedThrowingContinuation { continuation in
            pending.withLock { $0.append(Pending(line: bytes, continuation: continuation)) }
            queue.async { self.flush() }
        }
    }

    /// Appends a value as one line of JSON; returns once it is synced.
    func append(_ value: RecordedRequest) async throws {
        try await append(try JSONLine.buffer(of: value).readableBytesView)
    }

    /// Closes the file after the last append.
    func close() {
        queue.sync {
            _ = Glibc.close(descriptor)
        }
    }

    private func flush() {
        let batch = pending.withLock { pending in
            defer { pending = [] }
            return pending
        }
        guard !batch.isEmpty else { return }
        let result = Result { () throws(SandboxError) in
            try write(batch.flatMap(\.line))
            guard fsync(descriptor) == 0 else { throw .recordFile(errno) }
        }
        for pending in batch { pending.continuation.resume(with: result.mapError { $0 as any Error }) }
    }

    private func write(_ bytes: [UInt8]) throws(SandboxError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { buffer in
                Glibc.write(descriptor, buffer.baseAddress, buffer.count)
            }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw .recordFile(errno) }
            rest = rest.dropFirst(written)
        }
    }
}
