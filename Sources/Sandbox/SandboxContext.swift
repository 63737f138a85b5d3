// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Hummingbird
import NIOCore

/// A request's context that keeps the connection, so that a scripted fault can cut it.
struct SandboxContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}

/// Answers a path that no route has in Twilio's shape.
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

/// Refuses requests that name a host other than this machine, and changes that a page from elsewhere asks for.
///
/// A web page whose name is made to resolve to 127.0.0.1 could otherwise read the codes through a visitor's browser, and
/// any page could make that browser post messages and faults.
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
        // A browser tells the origin of every page that changes something; other clients tell none.
        guard ![.get, .head].contains(request.method), let origin = request.headers[.origin] else { return true }
        return isLoopback(origin: origin)
    }

    /// Whether pages of an origin come from this machine; those of `null` could come from anywhere.
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
