// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Hummingbird
import NIOCore

/// A request's context with its connection, so that a scripted fault can cut it.
struct SandboxContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}

/// Answers an unknown path in Twilio's format.
struct UnknownPathAnswer: RouterMiddleware {
    typealias Context = SandboxContext

    func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as HTTPError where error.status == .notFound {
            return try TwilioError.notFound.response()
        }
    }
}

/// Rejects requests for a host name other than this machine's, and changes requested by a page of another origin.
///
/// A web page whose name resolves to 127.0.0.1 (DNS rebinding) could otherwise read the codes through a visitor's
/// browser, and any page could make that browser post messages and faults (CSRF).
struct LoopbackGuard: RouterMiddleware {
    typealias Context = SandboxContext

    func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard Self.isLocal(request) else { return Response(status: .forbidden) }
        return try await next(request, context)
    }

    private static func isLocal(_ request: Request) -> Bool {
        if let authority = request.head.authority, !isLoopback(authority) { return false }
        // A browser sends the origin of a page with every request that changes something; other clients send none.
        guard ![.get, .head].contains(request.method), let origin = request.headers[.origin] else { return true }
        return isLoopback(origin: origin)
    }

    /// True for pages from this machine; pages of origin `null` could come from anywhere.
    private static func isLoopback(origin: String) -> Bool {
        origin.firstRange(of: "://").map { isLoopback(String(origin[$0.upperBound...])) } ?? false
    }

    static func isLoopback(_ authority: String) -> Bool {
        if authority.hasPrefix("[") { return authority == "[::1]" || authority.hasPrefix("[::1]:") }
        let host = authority.prefix { $0 != ":" }
        if host == "localhost" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
