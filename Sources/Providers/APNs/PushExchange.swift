// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Formats
import NIOCore
import NIOHTTP1
import Verification

/// One POST, without retries, under one deadline that spans connection, head and body.
///
/// AsyncHTTPClient's own timeout ends at the response head, so a server that sends its body byte by byte could hold a
/// call forever; here a timer races the whole call and cancels it.
struct PushExchange: Sendable {
    let client: PushClient
    let request: HTTPClientRequest
    let body: ByteBuffer

    /// The value of the request's `traceparent` header.
    let trace: TraceContext?

    private enum Ending: Sendable {
        case call(ExchangeResult)
        case timer
    }

    /// Makes the call; returns as soon as it ends, the deadline passes or the calling task is cancelled.
    ///
    /// The body is sent before `leaveBy` or not at all.
    func run(until end: ContinuousClock.Instant, leavingBy leaveBy: ContinuousClock.Instant) async -> ExchangeResult {
        let gate = BodyGate(leaveBy: leaveBy)
        guard end > .now else { return .notSent(.timeout) }
        return await withTaskGroup(of: Ending.self) { group in
            group.addTask { .call(await call(through: gate)) }
            group.addTask {
                await CallDeadline.wait(until: end)
                return .timer
            }
            defer { group.cancelAll() }
            guard case .call(let result)? = await group.next() else {
                return await givenUp(gate, in: &group)
            }
            return result
        }
    }

    /// Ends the call, and keeps the answer's head if it was received.
    private func givenUp(_ gate: BodyGate, in group: inout TaskGroup<Ending>) async -> ExchangeResult {
        let failure: TransportFailure = Task.isCancelled ? .cancelled : .timeout
        let surelyNotSent = gate.bar()
        group.cancelAll()
        if case .call(.answered(let answer))? = await group.next() {
            guard case .failure = answer.body else { return .answered(answer) }
            let cut = AnswerCut(failure: failure)
            return .answered(HTTPAnswer(status: answer.status, headers: answer.headers, body: .failure(cut)))
        }
        return surelyNotSent && failure != .cancelled ? .notSent(failure) : .unknown(failure)
    }

    private func call(through gate: BodyGate) async -> ExchangeResult {
        var request = request
        if let trace { request.headers.replaceOrAdd(name: "traceparent", value: trace.traceparent) }
        let length = HTTPClientRequest.Body.Length.known(Int64(body.readableBytes))
        request.body = .stream(GatedBody(content: body, gate: gate), length: length)
        do {
            let response = try await client.http.execute(request, deadline: .distantFuture)
            let body = await answerBody(of: response)
            return .answered(HTTPAnswer(status: Int(response.status.code), headers: response.headers, body: body))
        } catch {
            let failure = TransportFailure(error)
            if failure.provesNotProcessed { return .notSent(failure) }
            // A cancelled call is always unknown: the caller is shutting down, and another worker decides on the send.
            return gate.bar() && failure != .cancelled ? .notSent(failure) : .unknown(failure)
        }
    }

    private func answerBody(of response: HTTPClientResponse) async -> Result<ByteBuffer, AnswerCut> {
        do {
            return .success(try await response.body.collect(upTo: HTTPAnswer.maximumSize))
        } catch {
            return .failure(AnswerCut(failure: TransportFailure(error)))
        }
    }
}
