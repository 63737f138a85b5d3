// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Verification

/// The files of the demonstration's worker, with throw-away keys.
struct DemoFiles: Sendable {
    /// The providers, as routes and events name them.
    enum Provider {
        static let sms = "sms"
        static let mail = "mail"
        static let push = "push"
    }

    let folder: URL

    /// Keys of 32 random bytes by ring.
    private let keys: [String: [UInt8]]

    init() {
        folder = FileManager.default.temporaryDirectory.appending(path: "code-courier-demo-\(UUID().uuidString)")
        let names = ["code", "hash", "fingerprint", "seal"]
        keys = Dictionary(uniqueKeysWithValues: names.map { ($0, (0..<32).map { _ in UInt8.random(in: 0...255) }) })
    }

    /// The path of the worker's configuration.
    var configuration: String { folder.appending(path: "courier.yaml").path }

    /// The ring that a verifier needs.
    var hashKeys: KeyRing? { ring("hash") }

    /// The ring with which a verifier checks the address of an e-mail.
    var fingerprintKeys: KeyRing? { ring("fingerprint") }

    private func ring(_ name: String) -> KeyRing? {
        keys[name].flatMap { KeyRing([(KeyID(1), $0)]) }
    }

    /// Writes the files to a folder that only this user can read.
    func write(gateway: String, mailPort: Int) throws {
        try FileManager.default.createDirectory(
            at: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        try Data(Self.policy.utf8).write(to: folder.appending(path: "policy.yaml"))
        let pushKey = P256.Signing.PrivateKey().pemRepresentation
        try Data(pushKey.utf8).write(to: folder.appending(path: "push.p8"))
        let text = configuration(gateway: gateway, mailPort: mailPort)
        try Data(text.utf8).write(to: folder.appending(path: "courier.yaml"))
    }

    func remove() {
        try? FileManager.default.removeItem(at: folder)
    }

    private static let policy = """
        version: "demo.1"
        tenants:
          default:
            appName: Acme
            regions: { allowlistOnly: { allowedRegions: [US, GB, DE] } }
            emailLinks: { authorizedDomains: [example.com] }
            routes: { default: [\(Provider.sms)], email: [\(Provider.mail)], apns: [\(Provider.push)] }
        """

    private func configuration(gateway: String, mailPort: Int) -> String {
        let rings = keys.map { "  \($0): \"1:\(Data($1).base64EncodedString())\"" }.sorted()
        return """
            policy: { path: policy.yaml }
            providers:
              - { name: \(Provider.sms), kind: twilio, baseURL: "\(gateway)", accountSid: ACdemo, authToken: demo,
                  from: "+15005550006" }
              - { name: \(Provider.mail), kind: smtp, host: 127.0.0.1, port: \(mailPort), tls: none,
                  from: no-reply@example.com }
              - { name: \(Provider.push), kind: apns, baseURL: "\(gateway)", sandboxBaseURL: "\(gateway)",
                  keyId: DEMO000001, teamId: DEMO000001, privateKeyFile: push.p8 }
            keys:
            \(rings.joined(separator: "\n"))
            log: { level: error, format: text }
            """
    }
}
