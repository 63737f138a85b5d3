// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import TestTools
import Verification

/// A random history of a few people at one or two tenants: their requests, and the model of them.
struct ModelHistory: Sendable {
    /// A send without an outcome, and the model's claim for it.
    struct OpenClaim: Sendable {
        let actual: ClaimedSend
        let model: NaiveModel.Claim
    }

    let index: Int
    var model: NaiveModel
    var open: [OpenClaim] = []

    /// The newest claim of each of the model's verifications.
    var newest: [ClaimedSend] = []

    private let tenants: [String]
    private let numbers: [String]
    private var past: [ModelRecord] = []
    private var requestCount = 0

    init(_ index: Int, prefix: String, policy: Policy, tenants: [String], random: inout TestSeed) {
        self.index = index
        self.tenants = tenants
        model = NaiveModel(name: prefix, policy: policy)
        var lines = Array(ModelLine.mobiles.prefix(1 + random.below(3)))
        if random.chance(40) { lines.append(random.pick(ModelLine.odd)) }
        if random.chance(15) { lines.append(ModelLine.test) }
        if random.chance(10) { lines.append(ModelLine.expiringTest) }
        numbers = lines.map(\.number)
    }

    /// The records of one step: usually a few, sometimes a burst.
    mutating func records(at now: Timestamp, _ random: inout TestSeed) -> [ModelRecord] {
        let count = random.chance(4) ? 1 + random.below(40) : random.below(5)
        return (0..<count).map { _ in record(at: now, &random) }
    }

    private mutating func record(at now: Timestamp, _ random: inout TestSeed) -> ModelRecord {
        if let old = past.isEmpty ? nil : random.pick(past) {
            if random.chance(7) { return old }
            if random.chance(8) { return place(old.request, partition: random.pick([index, index + 1000])) }
            if random.chance(5) {
                var other = request(at: now, &random)
                other.id = old.request.id
                other.tenant = old.request.tenant
                return place(other)
            }
        }
        return place(request(at: now, &random))
    }

    private mutating func place(_ request: ModelRequest, partition: Int? = nil) -> ModelRecord {
        let partition = Int32(partition ?? index)
        let record = ModelRecord(partition: partition, offset: Int64(past.count), request: request)
        past.append(record)
        return record
    }

    private mutating func request(at now: Timestamp, _ random: inout TestSeed) -> ModelRequest {
        requestCount += 1
        var request = ModelRequest(id: "r\(requestCount)", tenant: random.pick(tenants), requestedAt: now)
        request.purpose = random.pick([.signIn, .signIn, .signIn, .signUp, .mfaSignIn, .reauthentication])
        request.number = random.pick(numbers)
        request.ip = random.pick([nil, "192.0.2.7", "192.0.2.7", "2001:db8::7"])
        request.device = random.pick([nil, nil, "device-1", "device-2"])
        request.subject = random.pick([nil, nil, "account-1", "account-2"])
        request.isConfirmed = random.chance(30)
        request.language = random.pick([nil, nil, "de"])
        if random.chance(30) {
            request.shown = ModelRequest.Shown(
                method: random.pick(["recaptcha", "app_attest", "none"]),
                verdict: random.pick(["pass", "pass", "pass", "fail", nil]),
                score: random.pick([nil, 0, 0.49, 0.5, 1])
            )
        }
        if random.chance(10) {
            let age = random.pick([1, 299_999_999, 300_000_000, 300_000_001, -300_000_000])
            request.requestedAt = now - .microseconds(age)
        }
        if random.chance(10) {
            request.deadline = now + .microseconds(random.pick([-1, 0, 1, 7_000_000, 400_000_000]))
        }
        if random.chance(2) { request.tenant = "nobody-" + request.tenant }
        if random.chance(4) { request.fault = random.pick(ModelRequest.Fault.allCases) }
        return request
    }
}

extension TenantPolicy {
    /// A random tenant with small limits, short windows and unusual rules.
    static func random(_ random: inout TestSeed) -> TenantPolicy {
        func some(_ limits: [(count: Int, seconds: Int)], _ random: inout TestSeed) -> [RateLimit] {
            limits.filter { _ in random.chance(60) }.map { RateLimit(count: $0.count, per: .seconds($0.seconds)) }
        }
        let allowed = Set(["DE", "US", "GB", "IN", "KZ"].compactMap { Region($0) })
        let disallowed = Set(["RU", "GB"].compactMap { Region($0) })
        let confirmed = Set(["IN", "KZ"].compactMap { Region($0) })
        var tenant = TenantPolicy(
            appName: "Acme",
            regions: RegionPolicy(
                random.chance(50) ? .allowlistOnly(allowed: allowed) : .allowByDefault(disallowed: disallowed),
                confirmedOnly: confirmed
            ),
            routes: Routes(fallback: ["main"])
        )
        if random.chance(30) { tenant.purposeRegions[.mfaSignIn] = RegionPolicy(.allowByDefault(disallowed: [])) }
        tenant.limits = LimitPolicy(
            perRecipient: some([(1, 5), (2, 10), (3, 60), (4, 3600), (6, 86_400)], &random),
            perIP: some([(1, 1), (2, 60), (4, 3600)], &random),
            perSubject: some([(2, 10), (3, 600)], &random),
            perDevice: some([(1, 5), (3, 300)], &random),
            perTenant: some([(2, 10), (4, 60), (6, 3600)], &random)
        )
        tenant.resend.windows = random.pick([[60, 120, 300, 600], [10, 30], [5], []]).map { .seconds($0) }
        tenant.resend.sameCodeWhileLeft = .seconds(random.pick([120, 10]))
        tenant.code.validity = .seconds(random.pick([600, 600, 130, 20]))
        tenant.code.length = random.pick([6, 6, 4, 10])
        tenant.code.maxChecks = random.pick([5, 2, 1])
        tenant.voip = random.pick([.allow, .record, .refuse])
        tenant.appVerification = .on(required: random.chance(8), minimumScore: random.pick([0, 0.5]))
        if random.chance(6) { tenant.appVerification = .off }
        tenant.testNumbers = [(ModelLine.test, nil), (ModelLine.expiringTest, Timestamp.test + .seconds(130))]
            .compactMap {
                line,
                until in PhoneNumber(line.number).map { TestNumber(number: $0, code: "654321", until: until) }
            }
        return tenant
    }
}
