// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import FoundationEssentials
import NIOCore
import NIOHTTP1
import Synchronization

/// Posts receipts to the callback addresses that clients gave with their messages, in order and once each.
///
/// Receipts are signed if there is a secret. Beyond a maximum backlog the oldest are dropped.
final class CallbackPoster: Sendable {
    struct Counts: Sendable, Encodable {
        var posted = 0
        /// Callbacks not answered with a 2xx within two seconds.
        var failed = 0
    }

    private let waiting: AsyncStream<SandboxReceipt>
    private let continuation: AsyncStream<SandboxReceipt>.Continuation
    private let state = Mutex(Counts())
    private let signature: CallbackSignature?

    var counts: Counts { state.withLock { $0 } }

    init(signature: CallbackSignature?) {
        self.signature = signature
        (waiting, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1000))
    }

    func add(_ receipt: SandboxReceipt) {
        if receipt.statusCallback != nil { continuation.yield(receipt) }
    }

    /// Posts until the task is cancelled.
    func run() async throws {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.timeout = HTTPClient.Configuration.Timeout(connect: .seconds(1))
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        for await receipt in waiting {
            let isTaken = await post(receipt, with: client)
            state.withLock { counts in
                if isTaken { counts.posted += 1 } else { counts.failed += 1 }
            }
        }
        try await client.shutdown()
    }

    private func post(_ receipt: SandboxReceipt, with client: HTTPClient) async -> Bool {
        let parameters = signature?.parameters(of: receipt) ?? receipt.parameters
        guard let url = receipt.statusCallback, let (type, body) = try? Self.content(of: parameters, receipt.provider)
        else { return false }
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers = ["content-type": type, "user-agent": "code-courier-sandbox"]
        if let header = signature?.header(of: receipt.provider, url, parameters, body) {
            request.headers.add(name: header.name, value: header.value)
        }
        request.body = .bytes(body)
        // The address is whatever a client wrote, so an unreachable one counts as failed.
        guard let answer = try? await client.execute(request, timeout: .seconds(2)) else { return false }
        return (200...299).contains(answer.status.code)
    }

    /// The body in the form of the provider: a form for Twilio, else JSON, with nested objects for dotted names.
    private static func content(
        of parameters: [String: String],
        _ provider: SandboxProvider
    ) throws -> (type: String, body: ByteBuffer) {
        let parameters = parameters.sorted { $0.key < $1.key }
        guard provider != .twilio else {
            let pairs = parameters.map { "\(escaped($0.key))=\(escaped($0.value))" }
            return ("application/x-www-form-urlencoded", ByteBuffer(string: pairs.joined(separator: "&")))
        }
        var fields: [String: Field] = [:]
        for (name, value) in parameters {
            let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
            guard parts.count == 2 else {
                fields[name] = .text(value)
                continue
            }
            var object: [String: String] = [:]
            if case .object(let known)? = fields[parts[0]] { object = known }
            object[parts[1]] = value
            fields[parts[0]] = .object(object)
        }
        return ("application/json", try JSONLine.buffer(of: fields))
    }

    private enum Field: Encodable {
        case text(String)
        case object([String: String])

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .object(let object): try container.encode(object)
            }
        }
    }

    private static func escaped(_ text: String) -> String {
        text.utf8.map { byte in
            let character = Character(Unicode.Scalar(byte))
            let isPlain = byte < 128 && (character.isLetter || character.isNumber || "-_.~".contains(character))
            return isPlain ? String(character) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }
}
