// SPDX-License-Identifier: Apache-2.0

import Formats
import Hummingbird
import Synchronization

/// Holds the fleet, which may start later than the sandbox.
final class FleetSlot: Sendable {
    private let stored = Mutex<(any SandboxFleet)?>(nil)

    var fleet: (any SandboxFleet)? { stored.withLock { $0 } }

    func fill(_ fleet: any SandboxFleet) {
        stored.withLock { $0 = fleet }
    }
}

/// The part of the JSON API that needs a fleet: making requests and checking guesses.
///
/// Only programs of this machine and the sandbox's own page may use it. A page of another origin is refused by its
/// `Origin`; a form, which a browser may post without one, by its content type.
struct FleetRoutes: Sendable {
    let inbox: Inbox
    let slot: FleetSlot

    func addRoutes(to router: Router<SandboxContext>) {
        router.post("/sandbox/requests") { request, _ in try await answer(request, makeRequest) }
        router.post("/sandbox/checks") { request, _ in try await answer(request, check) }
    }

    /// An error answer.
    private struct Refusal: Error {
        let status: HTTPResponse.Status
        let reason: String
    }

    private func answer(
        _ request: Request,
        _ body: (JSONObject, any SandboxFleet) async throws -> Response
    ) async throws -> Response {
        do {
            guard let fleet = slot.fleet else {
                throw Refusal(status: .notFound, reason: "no fleet runs beside this sandbox; make demo starts one")
            }
            return try await body(Self.fields(of: request), fleet)
        } catch let refusal as Refusal {
            return try .json(["error": refusal.reason], status: refusal.status)
        } catch let error as FleetError {
            return try .json(["error": error.reason], status: .serviceUnavailable)
        }
    }

    private static func fields(of request: Request) async throws -> JSONObject {
        if let origin = request.headers[.origin], origin != "http://\(request.head.authority ?? "")" {
            throw Refusal(status: .forbidden, reason: "a page of another origin may not use the fleet")
        }
        let type = request.headers[.contentType].map { $0.prefix { $0 != ";" }.lowercased() }
        guard type == "application/json" else {
            throw Refusal(status: .unsupportedMediaType, reason: "the content-type must be application/json")
        }
        let body = try await request.body.collect(upTo: 16_384)
        guard let fields = JSONValue(body: body.readableBytesView)?.object else {
            throw Refusal(status: .badRequest, reason: "the body must be a JSON object")
        }
        return fields
    }

    /// Makes a request for `{"to": "+16502530000"}`, and answers with its id.
    private func makeRequest(_ fields: JSONObject, _ fleet: any SandboxFleet) async throws -> Response {
        guard let recipient = fields.text("to").flatMap({ FleetRecipient($0) }) else {
            let forms = "a number such as +16502530000, an e-mail address or a device token"
            throw Refusal(status: .badRequest, reason: "to must be \(forms)")
        }
        return try .json(["requestId": try await fleet.request(for: recipient)], status: .accepted)
    }

    /// Checks `{"message": "SM…", "guess": "123456"}`; a guess may be a whole link.
    private func check(_ fields: JSONObject, _ fleet: any SandboxFleet) async throws -> Response {
        guard let message = fields.text("message"), let guess = fields.text("guess") else {
            throw Refusal(status: .badRequest, reason: "message, the id of a message, and guess are required")
        }
        guard let references = await inbox.references(to: message) else {
            throw Refusal(status: .notFound, reason: "no message here has the id that message gives")
        }
        guard
            let delivery = await inbox.delivery(about: references.ids),
            let verification = delivery.verificationId, let purpose = delivery.purpose
        else {
            throw Refusal(status: .conflict, reason: "no event about this message has come yet; try again")
        }
        let verdict = try await fleet.check(
            FleetGuess(
                verificationID: verification,
                tenant: delivery.tenant,
                purpose: purpose,
                secret: Self.token(ofLink: guess) ?? guess,
                email: references.email
            )
        )
        return try .json(verdict)
    }

    /// The `oobCode` of a link; nil for text that is no link with one.
    private static func token(ofLink text: String) -> String? {
        guard text.hasPrefix("https://") || text.hasPrefix("http://") else { return nil }
        let query = text.split(separator: "?", maxSplits: 1).dropFirst().first
        return query.flatMap { FormParameters($0.prefix { $0 != "#" }.utf8)["oobCode"] }
    }
}
