// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Providers
import SettingsReading
import Verification

/// Reads the key rings from the configuration: `id:base64[,id:base64…]`, the active key first.
enum KeySettings {
    /// One ring with its location, for faults that concern two rings.
    private struct Ring {
        var entries: [(id: KeyID, bytes: [UInt8])] = []
        let setting: StatedSecret

        var keyRing: KeyRing? { KeyRing(entries) }

        func reportSharedKey(with codes: Ring, _ source: ConfigurationSource) {
            guard !Set(entries.map(\.bytes)).isDisjoint(with: codes.entries.map(\.bytes)) else { return }
            source.report(setting.key, at: setting.origin, "shares a key with keys.code; make a key of its own")
        }
    }

    /// Reads the four rings.
    ///
    /// A ring that shares a key with the code ring is rejected: other programs hold the hash and fingerprint rings, and
    /// with a key of the code ring they could compute every code.
    static func read(_ source: ConfigurationSource) -> CodeKeys? {
        let code = ring("code", source)
        let hash = ring("hash", source)
        let fingerprint = ring("fingerprint", source)
        let seal = ring("seal", source)
        if let code {
            for ring in [hash, fingerprint, seal] { ring?.reportSharedKey(with: code, source) }
        }
        guard let codeRing = code?.keyRing, let hashRing = hash?.keyRing, let fingerprintRing = fingerprint?.keyRing,
            let sealRing = seal?.keyRing
        else { return nil }
        return CodeKeys(code: codeRing, hash: hashRing, fingerprint: fingerprintRing, seal: sealRing)
    }

    /// Reads the ring of hash keys alone, for a verifier, which holds no other keys.
    static func readHash(_ source: ConfigurationSource) -> KeyRing? {
        ring("hash", source)?.keyRing
    }

    /// Reads the ring of fingerprint keys alone, with which a verifier finds the verification of an e-mail address.
    static func readFingerprint(_ source: ConfigurationSource) -> KeyRing? {
        ring("fingerprint", source)?.keyRing
    }

    /// Reads each ring that is set, with its place, for the commands that show and change rings.
    static func readPlaced(_ source: ConfigurationSource) -> [PlacedRing]? {
        let set = RingName.allCases.map(\.rawValue).filter { name in
            source.setting(["keys", name]) != nil || source.setting(["keys", name].ofFile) != nil
        }
        if set.isEmpty { source.reportMissing(["keys", "hash"], such: "1:base64 of 32 random bytes") }
        let rings = set.compactMap { name in
            ring(name, source).flatMap { ring in
                ring.keyRing.map { PlacedRing(name: name, ring: $0, setting: ring.setting) }
            }
        }
        return rings.count == set.count ? rings : nil
    }

    /// The keys of one ring; seal keys are AES-256 keys, hence exactly 32 bytes.
    private static func ring(_ name: String, _ source: ConfigurationSource) -> Ring? {
        let lengths = name == "seal" ? 32...32 : 32...1024
        let key = ["keys", name]
        guard let setting = source.secret(key, .lines) else {
            source.reportMissing(key, such: "1:base64 of 32 random bytes")
            return nil
        }
        var ring = Ring(setting: setting)
        for text in entries(setting.secret.revealed) {
            guard let entry = entry(text), lengths.contains(entry.bytes.count) else {
                let length = lengths.count == 1 ? "exactly 32" : "32 or more"
                let number = ring.entries.count + 1
                let form = "must be id:base64[,id:base64…] with ids from 1 to 32767 and keys of \(length) bytes"
                source.report(setting.key, at: setting.origin, "\(form); key \(number) is not")
                return nil
            }
            ring.entries.append(entry)
        }
        guard Set(ring.entries.map(\.id)).count == ring.entries.count else {
            source.report(setting.key, at: setting.origin, "has an id more than once; number the keys differently")
            return nil
        }
        return ring
    }

    /// The keys of a ring, separated by commas, line ends or both.
    static func entries(_ text: String) -> [String] {
        let lines = text.split(whereSeparator: \.isNewline).map(\.trimmed)
        let inner = lines.dropLast().map { $0.hasSuffix(",") ? String($0.dropLast()) : $0 }
        return (inner + lines.suffix(1)).joined(separator: ",")
            .split(separator: ",", omittingEmptySubsequences: false).map(\.trimmed)
    }

    private static func entry(_ text: String) -> (id: KeyID, bytes: [UInt8])? {
        guard let colon = text.firstIndex(of: ":"), let id = Int16(text[..<colon]), id > 0,
            let data = Data(base64Encoded: String(text[text.index(after: colon)...]))
        else { return nil }
        return (KeyID(id), Array(data))
    }
}
