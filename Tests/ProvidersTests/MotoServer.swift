// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Formats
import Foundation
import Logs
import NIOCore
import NIOHTTP1
import TestTools
import Testing
import Verification

@testable import Providers

/// A simulator of Amazon SNS and IAM in its own process on 127.0.0.1, with one user who may publish.
///
/// After the calls that create the user, it checks every signature as Amazon does.
struct MotoServer {
    let url: String

    let accessKey: AccessKey

    /// Runs a server during `body`, and fails when `deploy/local/wheels.sh` has not installed it.
    static func with<Value>(_ body: (MotoServer) async throws -> Value) async throws -> Value {
        let python = Repository.file(".local/moto/bin/python")
        let installed = FileManager.default.isExecutableFile(atPath: python.path)
        try #require(installed, "there is no moto in .local/moto; run deploy/local/wheels.sh")
        let output = FileManager.default.temporaryDirectory.appending(path: "moto-\(UUID().uuidString)")
        try Data().write(to: output)
        defer { try? FileManager.default.removeItem(at: output) }
        let process = Process()
        process.executableURL = python
        process.arguments = ["-m", "moto.server", "-H", "127.0.0.1", "-p", "0"]
        process.environment = ["INITIAL_NO_AUTH_ACTION_COUNT": String(setUp.count), "PATH": "/usr/bin:/bin"]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = try FileHandle(forWritingTo: output)
        try process.run()
        defer { kill(process.processIdentifier, SIGKILL) }
        // Python takes seconds to start. It picks the port itself, so no other test can take that port meanwhile.
        let url = try await eventually("moto listens", within: .seconds(60)) {
            let said = try String(contentsOf: output, encoding: .utf8)
            try #require(process.isRunning, "moto ended: \(said)")
            return said.firstMatch(of: /Running on (http:\S+)\n/).map { String($0.1) }
        }
        return try await body(MotoServer(url: url, accessKey: try await makeUser(url)))
    }

    /// The messages that the server received, in its own JSON.
    func contents() async throws -> String {
        try await Self.text(of: HTTPClientRequest(url: "\(url)/moto-api/data.json"))
    }

    private static let setUp = [
        "Action=CreateUser&UserName=courier", "Action=CreateAccessKey&UserName=courier",
        "Action=PutUserPolicy&UserName=courier&PolicyName=publish&PolicyDocument="
            + FormBody.encoded(
                """
                {"Version": "2012-10-17", \
                "Statement": [{"Effect": "Allow", "Action": "sns:Publish", "Resource": "*"}]}
                """
            ),
    ]

    private static func makeUser(_ url: String) async throws -> AccessKey {
        var answers: [String] = []
        let root = SignatureV4(
            accessKey: AccessKey(id: "AKIAROOT", secret: Secret("root")),
            region: "us-east-1",
            service: "iam"
        )
        for action in setUp {
            let form = "\(action)&Version=2010-05-08"
            var request = HTTPClientRequest(url: "\(url)/")
            request.method = .POST
            let headers = [
                (name: "Host", value: String(url.dropFirst(7))), (name: "Content-Type", value: FormBody.contentType),
            ]
            for (name, value) in root.signed(headers, body: form, at: .now) {
                request.headers.add(name: name, value: value)
            }
            request.body = .bytes(ByteBuffer(string: form))
            answers.append(try await text(of: request))
        }
        let scan = XMLScan(Array(answers[1].utf8))
        let path = ["CreateAccessKeyResponse", "CreateAccessKeyResult", "AccessKey"]
        return AccessKey(
            id: try #require(scan.text(in: path + ["AccessKeyId"])),
            secret: Secret(try #require(scan.text(in: path + ["SecretAccessKey"])))
        )
    }

    private static func text(of request: HTTPClientRequest) async throws -> String {
        let answer = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
        let body = try await answer.body.collect(upTo: 4 * 1024 * 1024)
        try #require(answer.status == .ok, "\(String(buffer: body))")
        return String(buffer: body)
    }
}
