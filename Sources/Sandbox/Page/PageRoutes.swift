// SPDX-License-Identifier: Apache-2.0

import Hummingbird

/// The web page, in one piece: nothing else is loaded, and nothing from elsewhere may be.
struct PageRoutes: Sendable {
    func addRoutes(to router: Router<SandboxContext>) {
        router.get("/") { _, _ in Self.page() }
    }

    private static func page() -> Response {
        let nonce =
            String(UInt64.random(in: .min ... .max), radix: 36) + String(UInt64.random(in: .min ... .max), radix: 36)
        let policy = [
            "default-src 'none'", "script-src 'nonce-\(nonce)'", "style-src 'nonce-\(nonce)'", "connect-src 'self'",
            "frame-src 'self'",
            "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
        ]
        var headers: HTTPFields = [.contentType: "text/html; charset=utf-8", .cacheControl: "no-store"]
        headers[.contentSecurityPolicy] = policy.joined(separator: "; ")
        headers[.xContentTypeOptions] = "nosniff"
        return Response(
            status: .ok,
            headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(string: html(nonce: nonce)))
        )
    }

    private static func html(nonce: String) -> String {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>code-courier sandbox</title>
        <style nonce="\(nonce)">\(Page.style)\(Page.mailStyle)</style>
        </head>
        <body>
        \(Page.markup)\(Page.mailMarkup)
        <script nonce="\(nonce)">\(Page.phoneScript)\(Page.mailScript)\(Page.script)</script>
        </body>
        </html>
        """
    }
}

/// The parts of the web page.
enum Page {}
