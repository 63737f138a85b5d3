// SPDX-License-Identifier: Apache-2.0

import Hummingbird

/// The web page in one document: it loads nothing else, and may load nothing from elsewhere.
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
        let script = Embedded.`phones.js` + Embedded.`mail.js` + Embedded.`fleet.js` + Embedded.`page.js`
        return Embedded.`page.html`
            .replacing("<style></style>", with: "<style nonce=\"\(nonce)\">\(Embedded.`page.css`)</style>")
            .replacing("<script></script>", with: "<script nonce=\"\(nonce)\">\(script)</script>")
    }
}
