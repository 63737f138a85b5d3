// SPDX-License-Identifier: Apache-2.0

import Formats
import Logging
import Logs
import Providers
import SettingsReading
import Verification

/// Loads the files of secrets, and applies or rejects their contents.
///
/// Only files that a `…File` key of `keys` or `providers` names are reloaded in a running worker: the configuration
/// file and Kafka's secrets stay as at the start, and a `DatabaseFile` is read at each connection.
actor SecretLoader: FileLoader {
    private let path: String?
    private let text: String?
    private let environment: [String: String]
    private let secrets: WorkerSecrets
    private let joinFleet: KeyComparison
    private let logger: Logger
    private let firstRetry: Duration

    /// The next retry of a refused reload, and its backoff; nil when none is due.
    private var retry: (at: ContinuousClock.Instant, after: Duration)?

    /// The number of reloads begun: the result of an older one is dropped.
    private var readings = 0

    /// Checks keys and registers new ones; throws if the fleet has others under their ids, or live rows need others.
    typealias KeyComparison = @Sendable (CodeKeys) async throws(DatabaseFault) -> Void

    /// The contents in force, by file path.
    private var files: [String: Secret]

    init(
        path: String?,
        environment: [String: String],
        configuration: CourierConfiguration,
        secrets: WorkerSecrets,
        joinFleet: @escaping KeyComparison,
        firstRetry: Duration = .seconds(5),
        logger: Logger
    ) {
        self.firstRetry = firstRetry
        self.path = path
        text = path.flatMap { try? TextFile.read($0, maximumBytes: YAMLDocument.maximumBytes) }
        self.environment = environment
        self.secrets = secrets
        self.joinFleet = joinFleet
        self.logger = logger
        files = configuration.secretFiles
    }

    var paths: [String] { files.keys.sorted() }

    var isRetryDue: Bool { retry.map { $0.at <= .now } ?? false }

    func load(because cause: ReloadCause) async {
        switch CourierConfiguration.read(ConfigurationSource(path: path, text: text, environment: environment)) {
        case .failure(let faults):
            refuse(faults.faults.map(\.description))
        case .success(let configuration):
            let isChanged = configuration.secretFiles.mapValues(\.revealed) != files.mapValues(\.revealed)
            if cause == .change, !isChanged { return }
            let contradictions = configuration.keys.contradictions(to: secrets.keys.current)
            guard contradictions.isEmpty else { return refuse(contradictions) }
            readings += 1
            let reading = readings
            let isOtherSet = configuration.keys.hasOtherIDs(than: secrets.keys.current)
            if isOtherSet, let fault = await fault(of: configuration.keys) {
                if reading == readings { retry = nextRetry(after: fault) }
                return refuse([sentence(of: fault)])
            }
            guard reading == readings else { return }
            retry = nil
            // Providers are replaced only after a change, since a new one opens new connections.
            if isChanged { secrets.replace(with: configuration) }
            files = configuration.secretFiles
            report(configuration.keys)
        }
    }

    /// The reason why the fleet rejects keys, some of which are new here or gone; nil when it accepts them.
    private func fault(of keys: CodeKeys) async -> DatabaseFault? {
        do throws(DatabaseFault) {
            try await joinFleet(keys)
            return nil
        } catch {
            return error
        }
    }

    private func sentence(of fault: DatabaseFault) -> String {
        if fault.keysNeededUntil != nil { return "\(fault); the rings are read again then" }
        if fault.isOfKeys { return fault.description }
        return "keys: not compared with the fleet's (\(fault)): tried again by itself, and at once by SIGHUP"
    }

    /// The next retry: when no live row needs a missing key any more, or after an outage with a backoff that doubles up
    /// to a minute; none when the fleet has another key under an id.
    private func nextRetry(after fault: DatabaseFault) -> (at: ContinuousClock.Instant, after: Duration)? {
        if let until = fault.keysNeededUntil { return (.now + max(firstRetry, until - .now), firstRetry) }
        if fault.isOfKeys { return nil }
        let wait = min(retry.map { $0.after * 2 } ?? firstRetry, .seconds(60))
        return (.now + wait, wait)
    }

    private func refuse(_ faults: [String]) {
        for fault in faults {
            logger.log(.secretsRefused, [.fault: .text(fault)])
        }
    }

    private func report(_ keys: CodeKeys) {
        func ids(_ ring: KeyRing) -> LogValue { .text(ring.ids.map(\.description).joined(separator: ",")) }
        logger.log(
            .secretsReloaded,
            [.codeKeys: ids(keys.code), .hashKeys: ids(keys.hash), .sealKeys: ids(keys.seal)]
        )
    }
}

extension CodeKeys {
    /// The changes from the old rings that a running fleet does not allow, as sentences without a secret.
    fileprivate func contradictions(to old: CodeKeys) -> [String] {
        var faults = zip(rings, old.rings).flatMap { now, before in
            now.ring.changedKeys(since: before.ring).map { id in
                "\(KeyName(ring: now.name, id: id)) is not the one that is in use; give a new key an id of its own"
            }
        }
        if fingerprint.activeID != old.fingerprint.activeID {
            // Two workers with different fingerprints for a person would send two codes.
            faults.append("keys.fingerprint: the first key cannot change in a running fleet; stop all workers for it")
        }
        return faults
    }
}
