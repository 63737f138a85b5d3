// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import NIOHTTP1

extension HTTPClientRequest {
    /// A request with the headers that every provider gets; its body is the exchange's.
    init(to url: String, method: HTTPMethod = .POST, contentType: String, accept: String = "application/json") {
        self.init(url: url)
        self.method = method
        headers.add(name: "Content-Type", value: contentType)
        headers.add(name: "Accept", value: accept)
        headers.add(name: "User-Agent", value: "code-courier")
    }

    /// An address to which a path can be appended.
    static func base(_ url: String) -> Substring {
        var base = Substring(url)
        while base.hasSuffix("/") { base.removeLast() }
        return base
    }
}
