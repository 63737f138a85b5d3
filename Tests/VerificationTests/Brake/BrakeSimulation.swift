// SPDX-License-Identifier: Apache-2.0

import Formats
import Glibc
import TestTools

@testable import Verification

/// A day of a service with honest people, an outage of delivery, a launch, and an attack.
///
/// 100,000 verifications in 40 regions; 400 prefixes a region, 20 % of the people behind 300 addresses, 60 % confirmed,
/// 70 % of the others with a verified app. Blocks take effect 6 s late.
struct BrakeSimulation {
    enum Attack: CaseIterable {
        case none, spike, prefix, address, range, slow, spread, region
    }

    struct Result {
        var attacks = 0
        var attacksSent = 0
        var honest = 0
        var honestRefused = 0
        var launchRefused = 0
        var outageRefused = 0
        var spikeRefused = 0

        /// Seconds from the first message of the attack to the first block.
        var firstBlock: Double?

        /// The scopes that stayed shut at the end for more than twice their last block.
        var stuck = 0
        var trips: [BrakeScope: Int] = [:]

        var left: Double { Double(attacksSent) / Double(max(1, attacks)) }
        var refused: Double { Double(honestRefused) / Double(max(1, honest)) }
    }

    private enum Kind { case honest, launch, spike, attack }

    private struct Person {
        let second: Double
        let kind: Kind
        let region: Int
        let prefix: Int
        let client: Int?
        let isConfirmed: Bool
        let isTrusted: Bool
        let approvesAfter: Double?
    }

    private struct Knowledge: ConversionBaseline {
        let rates: [ApprovalRate]
        let volumes: [Double]

        func rate(region: String, isConfirmed: Bool) -> ApprovalRate { rates[BrakeSimulation.index(region)] }
        func curve(region: String) -> ApprovalCurve { .usual }
        func usualVolume(region: String, at time: Timestamp) -> Double {
            let second = Double(time.microseconds - BrakeSimulation.start.microseconds) / 1e6
            return volumes[BrakeSimulation.index(region)] * BrakeSimulation.part(from: second - 3600, to: second)
        }
    }

    static let regions = 40
    static let start = Timestamp(microseconds: 1_700_000_000_000_000)
    static let day = 86400.0
    static let step = 2.0
    static let attackBegins = 30000.0
    static let outage = 43200.0..<46800.0

    private var random: TestSeed
    let conversions: [Double]
    let shares: [Double]
    let honest: Int

    init(seed: UInt64, conversion: Double = 0.66, honest: Int = 100_000) {
        random = TestSeed(seed: seed)
        self.honest = honest
        var generator = random
        conversions = (0..<Self.regions).map { _ in min(0.97, max(0.2, conversion + 0.10 * generator.normal())) }
        random = generator
        let weights = (1...Self.regions).map { pow(Double($0), -1.1) }
        let sum = weights.reduce(0, +)
        shares = weights.map { $0 / sum }
    }

    static func name(_ region: Int) -> String {
        let letters = [region / 26, region % 26].map { UInt8(ascii: "A") + UInt8($0) }
        return String(decoding: letters, as: UTF8.self)
    }

    static func index(_ name: String) -> Int {
        name.utf8.reduce(0) { $0 * 26 + Int($1 - UInt8(ascii: "A")) }
    }

    /// The part of a day's traffic between two seconds: a sine with its peak at 15:00.
    static func part(from: Double, to: Double) -> Double {
        func integral(_ second: Double) -> Double {
            second / day + 0.7 * sin(2 * .pi * (second / day - 0.625)) / (2 * .pi)
        }
        return integral(to) - integral(max(0, from))
    }

    private mutating func secondOfDay() -> Double {
        while true {
            let second = random.unit() * Self.day
            if random.unit() * 1.7 < 1 + 0.7 * cos(2 * .pi * (second / Self.day - 0.625)) { return second }
        }
    }

    private mutating func approval(_ conversion: Double) -> Double? {
        random.unit() < conversion ? 8 + 20 * exp(0.9 * random.normal()) : nil
    }

    private mutating func person(_ kind: Kind, at second: Double, region: Int, conversion: Double) -> Person {
        let isConfirmed = kind == .honest && random.unit() < 0.6
        // Prefixes are used unevenly.
        let prefix = Int(400 * pow(random.unit(), 2))
        return Person(
            second: second,
            kind: kind,
            region: region,
            prefix: prefix,
            client: random.unit() < 0.2 ? Int(random.unit() * 300) : 1_000_000 + Int(random.next() >> 12),
            isConfirmed: isConfirmed,
            isTrusted: isConfirmed || random.unit() < 0.7,
            approvesAfter: approval(conversion)
        )
    }

    private mutating func people(_ attack: Attack, launchConversion: Double) -> [Person] {
        var people: [Person] = []
        for _ in 0..<honest {
            let second = secondOfDay()
            var point = random.unit()
            var region = 0
            while region < Self.regions - 1, point > shares[region] {
                point -= shares[region]
                region += 1
            }
            let lost = region == 3 && Self.outage.contains(second)
            let conversion = conversions[region] * (lost ? 0.08 : 1)
            people.append(person(.honest, at: second, region: region, conversion: conversion))
        }
        for number in 0..<10000 {
            let second = number < 2000 ? 300 * random.unit() : 300 + 21300 * random.unit()
            people.append(person(.launch, at: 28800 + second, region: Self.regions, conversion: launchConversion))
        }
        if attack == .spike {
            for _ in 0..<3000 {
                let second = 36000 + 3600 * random.unit()
                people.append(person(.spike, at: second, region: 8, conversion: conversions[8]))
            }
        }
        people += attackers(attack)
        return people.sorted { $0.second < $1.second }
    }

    private mutating func attackers(_ attack: Attack) -> [Person] {
        let rate: Double
        switch attack {
        case .none, .spike: return []
        case .prefix: rate = 50
        case .slow: rate = 2
        case .address, .range, .spread, .region: rate = 10
        }
        return (0..<100_000).map { number in
            let second = Self.attackBegins + Double(number) / rate
            var region = 5
            var prefix = 7
            var client = 10_000_000 + Int(random.next() >> 12)
            switch attack {
            case .none, .spike, .prefix: break
            case .address:
                region = Int(random.unit() * 40)
                prefix = Int(random.unit() * 400)
                client = 4_000_000
            case .range: prefix = 40 * 20 + Int(random.unit() * 40)
            case .slow: prefix = 40 * 20 + Int(random.unit() * 400)
            case .spread:
                region = Int(random.unit() * 40)
                prefix = 40 * 20 + 40 * Int(random.unit() * 5)
            case .region: prefix = Int(400 * pow(random.unit(), 2))
            }
            return Person(
                second: second,
                kind: .attack,
                region: region,
                prefix: prefix,
                client: client,
                isConfirmed: false,
                isTrusted: false,
                approvesAfter: nil
            )
        }
    }

    private struct Sent {
        let id: UUIDValue
        let person: Person
    }

    private func sample(_ sent: Sent, at second: Double) -> ConversionSample {
        let person = sent.person
        let isApproved = person.approvesAfter.map { person.second + $0 <= second } ?? false
        return ConversionSample(
            id: sent.id,
            region: Self.name(person.region),
            client: person.client.map(Int64.init),
            prefix: Int64(person.region * 100_000 + person.prefix),
            range: Int64(person.region * 100_000 + person.prefix / 40),
            isConfirmed: person.isConfirmed,
            outcome: isApproved ? .approved : .open
        )
    }

    mutating func run(_ attack: Attack, launchConversion: Double = 0.6) -> Result {
        let people = people(attack, launchConversion: launchConversion)
        let overall = zip(conversions, shares).reduce(0) { $0 + $1.0 * $1.1 }
        let parent = ApprovalRate(approved: overall * 1e6, of: 1e6)
        let knowledge = Knowledge(
            rates: (0..<Self.regions).map { region in
                let count = shares[region] * Double(honest) * 14
                return ApprovalRate(approved: conversions[region] * count, of: count, parent: parent)
            } + [parent],
            volumes: shares.map { $0 * Double(honest) } + [0]
        )
        var brake = Brake(rules: BrakeRules())
        var result = Result()
        var slices: [[Sent]] = []
        var snapshots = [BrakeSnapshot([])]
        var turns = BrakeTurns()
        var next = 0
        let ages = ApprovalCurve.ages.map { Int(Double($0.microseconds) / 1e6 / Self.step) }
        for slice in 0..<Int(Self.day / Self.step) {
            let second = Double(slice + 1) * Self.step
            let now = Self.start + .milliseconds(Int64(second * 1000))
            var sent: [Sent] = []
            let snapshot = snapshots[0]
            while next < people.count, people[next].second < second {
                let person = people[next]
                next += 1
                let isRefused = isStopped(person, by: snapshot, &turns, &brake)
                count(person, isRefused, &result)
                if isRefused { continue }
                let time = Self.start + .milliseconds(Int64(person.second * 1000))
                sent.append(Sent(id: .version7(at: time, using: &random), person: person))
            }
            slices.append(sent)
            for (age, steps) in ages.enumerated() where slice >= steps {
                let samples = slices[slice - steps].map { sample($0, at: second) }
                brake.read(samples, age: age, by: knowledge)
            }
            let first = sent.map { sample($0, at: second) }
            brake.read(first, age: nil, by: knowledge)
            let changed = brake.judge(at: now, by: knowledge)
            for block in changed where block.state == .blocked {
                result.trips[block.key.scope, default: 0] += 1
                result.firstBlock = result.firstBlock ?? second - Self.attackBegins
            }
            if snapshots.count == 3 { snapshots.removeFirst() }
            let current = changed.isEmpty ? snapshots.last : nil
            snapshots.append(current ?? BrakeSnapshot(brake.blocks.values.map { ($0, false) }))
        }
        result.stuck = brake.blocks.values.count { block in
            block.state != .ended && block.beganAt + (block.length * 2 + .seconds(10)) < Self.start + .seconds(86400)
        }
        return result
    }

    private static let policy = BrakePolicy(mode: .enforce)
    private static let number = PhoneNumber("+4915123456789")

    private func isStopped(
        _ person: Person,
        by snapshot: BrakeSnapshot,
        _ turns: inout BrakeTurns,
        _ brake: inout Brake
    ) -> Bool {
        guard !snapshot.isEmpty, let number = Self.number, let region = Region(Self.name(person.region)) else {
            return false
        }
        let subject = BrakeSubject(
            tenant: "default",
            keys: BrakeKeys(
                client: person.client.map(Int64.init),
                prefix: Int64(person.region * 100_000 + person.prefix),
                range: Int64(person.region * 100_000 + person.prefix / 40),
                isConfirmed: person.isConfirmed
            ),
            region: region,
            number: number,
            address: nil,
            recipient: 0,
            isTrusted: person.isTrusted,
            isResend: false
        )
        let time = Self.start + .milliseconds(Int64(person.second * 1000))
        let verdict = snapshot.verdict(on: subject, under: Self.policy, turns: turns, at: time)
        if let refusal = verdict.refusal {
            brake.noteRefusal(by: refusal.key, at: time)
            return true
        }
        for key in verdict.probes { turns.take(BrakeTurn(tenant: subject.tenant, key: key), at: time) }
        return false
    }

    private func count(_ person: Person, _ isRefused: Bool, _ result: inout Result) {
        switch person.kind {
        case .attack:
            result.attacks += 1
            if !isRefused { result.attacksSent += 1 }
        case .honest, .launch, .spike:
            result.honest += 1
            guard isRefused else { return }
            result.honestRefused += 1
            if person.kind == .launch { result.launchRefused += 1 }
            if person.kind == .spike { result.spikeRefused += 1 }
            if person.region == 3, Self.outage.contains(person.second) { result.outageRefused += 1 }
        }
    }
}

extension TestSeed {
    /// A number from 0 up to 1.
    mutating func unit() -> Double { Double(next() >> 11) / 9_007_199_254_740_992 }

    /// A number of the normal distribution.
    mutating func normal() -> Double { sqrt(-2 * log(max(unit(), 1e-300))) * cos(2 * .pi * unit()) }
}
