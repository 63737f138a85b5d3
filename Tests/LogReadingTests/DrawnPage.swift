// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A report's markup after Chromium has run the page's script, without the script, the figures and the style.
///
/// A browser that does not exit is killed after a minute.
func drawn(_ html: String) async throws -> String {
    let folder = FileManager.default.temporaryDirectory.appending(path: "report-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let page = folder.appending(path: "report.html")
    let output = folder.appending(path: "drawn.html")
    try Data(html.utf8).write(to: page)
    try Data().write(to: output)
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/timeout")
    process.arguments = [
        "60", "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        "--user-data-dir=\(folder.path)", "--dump-dom", page.absoluteString,
    ]
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = FileHandle.nullDevice
    try process.run()
    await withCheckedContinuation { continuation in
        // Uses a separate thread, since a blocking call would starve the pool that runs the tests.
        let thread = Thread {
            process.waitUntilExit()
            continuation.resume()
        }
        thread.start()
    }
    let markup = try String(contentsOf: output, encoding: .utf8)
    return markup.replacing(#/<(script|style).*?</\1>/#.dotMatchesNewlines(), with: "")
}
