// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Controls a page in Chromium by the DevTools protocol.
package final class Browser: Sendable {
    struct Failure: Error {
        let reason: String
    }

    private let connection: RawConnection

    private init(_ connection: RawConnection) {
        self.connection = connection
    }

    /// Opens a page in a new browser during the body.
    package static func with(page: String, width: Int = 1300, _ body: (Browser) async throws -> Void) async throws {
        let profile = FileManager.default.temporaryDirectory.appendingPathComponent("browser-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: profile) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/chromium")
        process.arguments = [
            "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-port=0",
            "--window-size=\(width),900", "--user-data-dir=\(profile.path)", page,
        ]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        do {
            let port = try await debuggingPort(of: profile)
            try await body(Browser(try await connect(port)))
        } catch {
            await end(process)
            throw error
        }
        await end(process)
    }

    /// Returns true when a JavaScript expression is true.
    package func holds(_ expression: String) async throws -> Bool {
        try send("Runtime.evaluate", ["expression": "Boolean(\(expression))", "returnByValue": true])
        let (text, _) = await connection.read {
            $0.contains(#""id":1,"#) && $0.hasSuffix("}}}") || $0.contains("exception")
        }
        return text.contains(#""value":true"#)
    }

    /// Makes the page as wide and high as a phone's, in the light or dark scheme.
    package func emulate(width: Int, height: Int, scheme: String) async throws {
        let features = [["name": "prefers-color-scheme", "value": scheme]]
        try send("Emulation.setEmulatedMedia", ["features": features])
        _ = await connection.read { $0.contains(#""id":1,"#) }
        let size: [String: Any] = ["width": width, "height": height, "deviceScaleFactor": 1, "mobile": true]
        try send("Emulation.setDeviceMetricsOverride", size)
        _ = await connection.read { $0.contains(#""id":1,"#) }
    }

    private func send(_ method: String, _ parameters: [String: Any]) throws {
        let message: [String: Any] = ["id": 1, "method": method, "params": parameters]
        try connection.send(Self.frame(try JSONSerialization.data(withJSONObject: message)))
    }

    /// Runs a JavaScript expression.
    package func perform(_ expression: String) async throws {
        _ = try await holds("(\(expression), true)")
    }

    /// The debugging port, which the browser writes to its profile.
    private static func debuggingPort(of profile: URL) async throws -> Int {
        try await eventually("the browser tells its port", within: .seconds(60)) {
            let text = try? String(contentsOf: profile.appendingPathComponent("DevToolsActivePort"), encoding: .utf8)
            return text?.split(separator: "\n").first.flatMap { Int($0) }
        }
    }

    /// Opens a WebSocket (RFC 6455) to the first page of the browser.
    private static func connect(_ port: Int) async throws -> RawConnection {
        let list = try RawConnection(to: port)
        try list.send("GET /json/list HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        // The browser keeps the connection open, and may end the list with a line break.
        let pages = await list.read { $0.last { !$0.isWhitespace } == "]" }.text
        guard let path = pages.firstMatch(of: #/ws://[^/"]+(/devtools/page/[^"]+)/#)?.1 else {
            throw Failure(reason: "no page")
        }
        let socket = try RawConnection(to: port)
        try socket.send(
            "GET \(path) HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
                + "sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
        )
        guard await socket.read(until: { $0.contains("\r\n\r\n") }).text.contains(" 101 ") else {
            throw Failure(reason: "no WebSocket")
        }
        return socket
    }

    /// One text frame.
    ///
    /// A client must mask it, and a mask of zeros leaves the payload unchanged.
    private static func frame(_ payload: Data) -> [UInt8] {
        let length = payload.count
        let head: [UInt8] =
            length < 126 ? [0x81, 0x80 | UInt8(length)] : [0x81, 0xFE, UInt8(length >> 8), UInt8(length & 255)]
        return head + [0, 0, 0, 0] + Array(payload)
    }

    private static func end(_ process: Process) async {
        process.terminate()
        // Kills a process that does not exit. This task is unstructured, since the wait outlives a cancellation.
        let killing = Task {
            do { try await Task.sleep(for: .seconds(10)) } catch { return }
            kill(process.processIdentifier, SIGKILL)
        }
        defer { killing.cancel() }
        await withCheckedContinuation { continuation in
            // Uses a separate thread, since blocking calls would starve the pools that run the server.
            let thread = Thread {
                process.waitUntilExit()
                continuation.resume()
            }
            thread.start()
        }
    }
}
