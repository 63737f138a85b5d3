// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SettingsReading
import TestTools

@testable import CodeCourier

/// The documentation's two example files, and helpers to read them.
enum ExampleFiles {
    static let courier = """
        # courier.yaml
        kafka: { bootstrapServers: "127.0.0.1:9092" }
        postgres: { url: "postgresql://courier_worker@127.0.0.1/courier" }
        policy: { path: policy.yaml }
        providers:
          - { name: main,   kind: twilio, baseURL: "http://127.0.0.1:8025", accountSid: ACxxx, authTokenFile: /run/secrets/twilio, from: "+15005550006" }
          - { name: backup, kind: vonage, baseURL: "http://127.0.0.1:8025", apiKey: k, apiSecretFile: /run/secrets/vonage, from: Acme }
        """

    /// The example configuration, with its secrets written to a folder.
    static func courier(in folder: ScratchFolder) throws -> String {
        try ["twilio", "vonage"].reduce(courier) { text, name in
            text.replacing("/run/secrets/\(name)", with: try folder.write("\(name)-in-file\n", to: name))
        }
    }

    static let policy = """
        # policy.yaml
        version: "2026-11-20.1"
        tenants:
          default:
            appName: Acme
            defaultLanguage: en
            regions:
              allowlistOnly: { allowedRegions: [US, GB, DE, FR, IN] }    # or allowByDefault: { disallowedRegions: [...] }
              confirmedOnlyRegions: [IN]
            purposes:
              mfa_sign_in: { regions: { allowByDefault: { disallowedRegions: [] } } }
            numberTypes: { voip: record }
            appVerification: { required: false, minimumScore: 0.5 }
            code: { length: 6, validity: 10m, maxChecks: 5 }
            resend: { windows: [60s, 120s, 300s, 600s], sameCodeWhileLeft: 2m }
            limits:
              perRecipient: [{ count: 2, per: 10s }, { count: 10, per: 1h }, { count: 20, per: 24h }]
              perIP: [{ count: 50, per: 1m }, { count: 500, per: 1h }]
              perTenant: [{ count: 1000, per: 1m }]
            testNumbers: [{ number: "+16505550123", code: "654321", until: "2027-01-01" }]
            emailLinks: { authorizedDomains: [example.com], validity: 20m }
            routes:
              default: [main, backup]
              regions: { US: [main] }
        """

    /// The smallest valid configuration: every key without a default, and no secret files.
    static let smallest = """
        postgres: { url: "postgresql://courier_worker:pw-in-file@127.0.0.1/courier" }
        policy: { path: policy.yaml }
        providers: [{ name: main, kind: log }]
        """

    static let keys = [
        "KEYS_CODE": ring(1, filledWith: 1), "KEYS_HASH": ring(1, filledWith: 2),
        "KEYS_FINGERPRINT": ring(1, filledWith: 3), "KEYS_SEAL": ring(1, filledWith: 4),
    ]

    static func ring(_ id: Int, filledWith byte: UInt8, count: Int = 32) -> String {
        "\(id):\(Data(repeating: byte, count: count).base64EncodedString())"
    }
}

extension ScratchFolder {
    /// Loads a configuration; its faults name `courier.yaml` without the folder.
    func load(
        _ text: String,
        environment: [String: String] = ExampleFiles.keys
    ) throws -> Result<CourierConfiguration, ConfigurationFaults> {
        CourierConfiguration.load(path: try write(text, to: "courier.yaml"), environment: environment)
    }

    /// The faults of a configuration as lines, without the folder.
    func faults(_ text: String, environment: [String: String] = ExampleFiles.keys) throws -> [String] {
        guard case .failure(let faults) = try load(text, environment: environment) else { return [] }
        return faults.faults.map { $0.description.replacing("\(path)/", with: "") }
    }
}
