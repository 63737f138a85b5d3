// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import NIOCore
import ServiceLifecycle

/// Server-Sent Events of the inbox.
///
/// The events are `message` for a new text message, `status` for a changed one, `email`, `push`, `delivery`
/// for a fleet's delivery event, and `reset` when all messages are cleared.
///
/// An event's id is the cursor after it, so a browser that reconnects misses nothing that is still stored. Without a
/// cursor the stream starts with the next message; `after=0` starts with the oldest one stored.
struct EventStream: Sendable {
    let inbox: Inbox
    let broadcast: Broadcast

    @Sendable
    func respond(to request: Request, context: SandboxContext) async throws -> Response {
        if broadcast.isFull { return Response(status: .serviceUnavailable) }
        let end = await inbox.end
        let start = Self.cursor(of: request, end: end)
        return Response(
            status: .ok,
            headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
            body: ResponseBody { writer in
                guard let subscription = broadcast.subscribe() else { return try await writer.finish(nil) }
                defer { broadcast.unsubscribe(subscription) }
                HangUpWatch.hangUp(on: context.channel).whenComplete { _ in broadcast.unsubscribe(subscription) }
                try await write(from: start, on: subscription, to: &writer)
                try await writer.finish(nil)
            }
        )
    }

    @concurrent
    private func write(
        from start: Inbox.Cursor,
        on subscription: Broadcast.Subscription,
        to writer: inout any ResponseBodyWriter
    ) async throws {
        var cursor = start
        try await writer.write(ByteBuffer(string: "retry: 1000\n\n" + (try await events(behind: &cursor))))
        for await _ in subscription.signals.cancelOnGracefulShutdown() {
            let text = try await events(behind: &cursor)
            try await writer.write(ByteBuffer(string: text.isEmpty ? ": still here\n\n" : text))
        }
    }

    /// The events since a cursor, and advances the cursor past them.
    private func events(behind cursor: inout Inbox.Cursor) async throws -> String {
        var text = ""
        let end = await inbox.end
        if cursor.epoch != end.epoch {
            cursor = Inbox.Cursor(epoch: end.epoch, revision: 0)
            text += "event: reset\nid: \(cursor.text)\ndata: {}\n\n"
        }
        for change in await inbox.changes(since: cursor) {
            let (name, data) = try Self.described(change.subject)
            text += "event: \(name)\nid: \(change.cursor.text)\ndata: \(String(buffer: data))\n\n"
            cursor = change.cursor
        }
        return text
    }

    private static func described(_ subject: Inbox.Change.Subject) throws -> (name: String, data: ByteBuffer) {
        switch subject {
        case .message(let message, let isNew): (isNew ? "message" : "status", try JSONLine.buffer(of: message))
        case .email(let email): ("email", try JSONLine.buffer(of: email))
        case .push(let push): ("push", try JSONLine.buffer(of: push))
        case .delivery(let delivery): ("delivery", try JSONLine.buffer(of: delivery))
        }
    }

    private static func cursor(of request: Request, end: Inbox.Cursor) -> Inbox.Cursor {
        if let known = request.headers.first(where: { $0.name.canonicalName == "last-event-id" }) {
            return Inbox.Cursor(text: known.value) ?? Inbox.Cursor(epoch: end.epoch, revision: 0)
        }
        guard let text = request.uri.queryParameters.get("after") else { return end }
        return Inbox.Cursor(text: String(text)) ?? Inbox.Cursor(epoch: end.epoch, revision: 0)
    }
}

extension Inbox.Cursor {
    /// The cursor as an event's id.
    var text: String { "\(epoch)-\(revision)" }

    init?(text: String) {
        let parts = text.split(separator: "-", maxSplits: 1)
        guard parts.count == 2, let epoch = UInt32(parts[0]), let revision = Int(parts[1]) else { return nil }
        self.init(epoch: epoch, revision: revision)
    }
}
