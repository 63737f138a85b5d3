// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import SettingsReading
import TestTools
import Testing

@testable import CodeCourier

@Suite("config show")
struct ConfigShowTests {
    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
    }

    private func entries(_ text: String, _ environment: [String: String] = [:]) throws -> ConfigurationListing {
        let path = try folder.write(text, to: "courier.yaml")
        return ConfigurationListing(ConfigurationSource(path: path, environment: environment))
    }

    /// The lines of a listing as words, without the folder.
    private func lines(_ listing: ConfigurationListing) -> [String] {
        listing.lines.map { line in
            line.replacing("\(folder.path)/", with: "").split(separator: " ").joined(separator: " ")
        }
    }

    @Test func `each value is shown with the line, the variable or the default that it is from`() throws {
        let listing = try entries(
            """
            kafka: { groupId: orders }
            worker:
              lease: 40s
            """,
            ["WORKER_LEASE": "50s", "WORKER_BATCH_SIZE": ""]
        )
        let lines = lines(listing)
        for line in [
            "kafka.groupId orders courier.yaml:1", "worker.lease 50s environment WORKER_LEASE",
            "worker.batchSize 500 default", "policy.path (not set)", "keys.hash (not set)",
            "log.format json on a pipe, text on a terminal default",
        ] {
            #expect(lines.contains(line), "\(line): \(lines)")
        }
    }

    @Test func `a secret is hidden wherever it stands, and its file is named where there is one`() throws {
        try folder.write("canary", to: "token")
        let listing = try entries(
            """
            kafka:
              options:
                security.protocol: SASL_SSL
                sasl.mechanism: PLAIN
                sasl.username: canary
                sasl.password: canary
                sasl.passwordFile: canary
                ssl.ca.location: /ca.crt
                ssl.key.pem: canary
                canary.option: canary
            postgres: { url: "postgresql://worker:canary@db.example.com/courier?sslmode=require" }
            keys: { code: "1:canary", hashFile: token, sealFile: canary }
            providers:
              - { name: main, kind: twilio, accountSid: AC1, authTokenFile: token, statusCallback: "https://h/?t=canary" }
              - { name: own, kind: http, url: "https://canary@h/", headers: { X-Key: canary }, body: "canary {code}" }
            """,
            ["KEYS_FINGERPRINT": "1:canary", "PROVIDERS_MAIN_PROXY": "http://u:canary@h"]
        )
        let lines = lines(listing)
        #expect(!lines.contains { $0.replacing("canary.option", with: "").contains("canary") }, "\(lines)")
        #expect(!String(decoding: listing.json, as: UTF8.self).replacing("canary.option", with: "").contains("canary"))
        for line in [
            "kafka.options.security.protocol SASL_SSL courier.yaml:3",
            "kafka.options.sasl.mechanism PLAIN courier.yaml:4",
            "kafka.options.sasl.password (hidden) courier.yaml:6",
            "kafka.options.ssl.ca.location /ca.crt courier.yaml:8",
            "postgres.url postgresql://worker@db.example.com/courier courier.yaml:11",
            "keys.code (hidden) courier.yaml:12", "keys.hashFile token courier.yaml:12",
            "keys.sealFile (hidden) courier.yaml:12", "keys.fingerprint (hidden) environment KEYS_FINGERPRINT",
            "providers.main.kind twilio courier.yaml:14", "providers.main.accountSid AC1 courier.yaml:14",
            "providers.main.authTokenFile token courier.yaml:14",
            "providers.main.proxy (hidden) environment PROVIDERS_MAIN_PROXY",
            "providers.own.headers (hidden) courier.yaml:15",
        ] {
            #expect(lines.contains(line), "\(line): \(lines)")
        }
    }

    @Test func `of a value and a file the one that a worker uses is shown`() throws {
        try folder.write("x", to: "token")
        let text = "keys: { hash: \"1:canary\", sealFile: token }"
        let lines = lines(try entries(text, ["KEYS_HASH_FILE": folder["token"], "KEYS_SEAL": "1:canary"]))
        #expect(lines.contains("keys.hashFile token environment KEYS_HASH_FILE"), "\(lines)")
        #expect(lines.contains("keys.seal (hidden) environment KEYS_SEAL"), "\(lines)")
        #expect(!lines.contains { $0.hasPrefix("keys.hash ") || $0.hasPrefix("keys.sealFile ") })
    }

    @Test func `every declared setting is in the JSON`() throws {
        let json = String(decoding: try entries("log: { level: debug }").json, as: UTF8.self)
        for setting in Setting.declared where setting.form == .value || setting.form == .secret {
            #expect(json.contains("\"key\":\"\(setting.key.joined(separator: "."))\""))
        }
        #expect(json.contains(#""key":"log.level","value":"debug","hidden":false,"source":"#))
        #expect(json.contains(#""key":"worker.batchSize","value":"500","hidden":false,"source":"default""#))
    }

    @Test func `of a file with a fault no value is shown`() throws {
        let path = try folder.write("worker: { batchSize: canary }", to: "courier.yaml")
        #expect(throws: ExitCode(2)) { try ConfigShowCommand.parse(["--config", path]).run() }
    }
}
