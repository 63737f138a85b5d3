// SPDX-License-Identifier: Apache-2.0

/// A fault as described in the JSON API.
struct FaultRequest: Codable {
    struct Match: Codable {
        var to: String?
        var provider: SandboxProvider?
    }

    struct Description: Codable {
        var kind: String
        var milliseconds: Int?
        var status: Int?
        var code: Int?
        var retryAfter: Int?
        var when: String?
        var reason: String?
        var perSecond: Int?
    }

    var id: Int?
    var match: Match?
    var times: Int?
    /// Milliseconds for which the rule is in force.
    var lasting: Int?
    var fault: Description

    init(_ rule: FaultRule) {
        id = rule.identifier
        match = Match(to: rule.recipient, provider: rule.provider)
        times = rule.times
        lasting = rule.lasting?.wholeMilliseconds
        fault = Description(rule.fault)
    }

    /// The validated fault; throws when the description is invalid.
    func checked() throws(FaultRequestError) -> Fault {
        if let times, times == 0 || times < -1 { throw FaultRequestError("times is -1 or above 0") }
        if let lasting, !(1...3_600_000).contains(lasting) {
            throw FaultRequestError("lasting is between 1 and 3600000")
        }
        switch fault.kind {
        case "delay": return .delay(try fault.duration())
        case "status": return try checkedStatus()
        case "cut": return .cut(try checkedCut())
        case "silence": return .silence
        case "drip": return .drip(try fault.duration())
        case "endless": return .endless
        case "receipt": return .receipt(try checkedReceipt())
        case "error":
            guard let code = fault.code else { throw FaultRequestError("error needs a code") }
            return .error(code: code)
        case "reason":
            guard let reason = fault.reason else { throw FaultRequestError("reason needs a reason") }
            return .reason(reason)
        case "rate":
            guard let limit = fault.perSecond, (0...1_000_000).contains(limit) else {
                throw FaultRequestError("perSecond is between 0 and 1000000")
            }
            return .rate(perSecond: limit)
        default: throw FaultRequestError("unknown kind")
        }
    }

    private func checkedStatus() throws(FaultRequestError) -> Fault {
        guard let status = fault.status, (400...599).contains(status) else {
            throw FaultRequestError("status is between 400 and 599")
        }
        return .status(status, code: fault.code, retryAfter: fault.retryAfter)
    }

    private func checkedCut() throws(FaultRequestError) -> Fault.Cut {
        guard let cut = Fault.Cut(rawValue: fault.when ?? "") else {
            throw FaultRequestError("cut needs when: before or after")
        }
        return cut
    }

    private func checkedReceipt() throws(FaultRequestError) -> Fault.Receipt {
        switch fault.when {
        case "late": .late(try fault.duration())
        case "lost": .lost
        case "doubled": .doubled(try fault.duration(default: 0))
        case "undelivered": .undelivered(code: fault.code ?? 30003)
        default: throw FaultRequestError("receipt needs when: late, lost, doubled or undelivered")
        }
    }
}

/// The reason why a fault is invalid.
struct FaultRequestError: Error {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}

extension FaultRequest.Description {
    init(_ fault: Fault) {
        self.init(kind: "")
        switch fault {
        case .delay(let duration): (kind, milliseconds) = ("delay", duration.wholeMilliseconds)
        case .status(let value, let code, let retryAfter):
            (kind, status) = ("status", value)
            (self.code, self.retryAfter) = (code, retryAfter)
        case .cut(let cut): (kind, when) = ("cut", cut.rawValue)
        case .silence: kind = "silence"
        case .drip(let duration): (kind, milliseconds) = ("drip", duration.wholeMilliseconds)
        case .endless: kind = "endless"
        case .receipt(.late(let duration)): (kind, when, milliseconds) = ("receipt", "late", duration.wholeMilliseconds)
        case .receipt(.lost): (kind, when) = ("receipt", "lost")
        case .receipt(.doubled(let duration)):
            (kind, when, milliseconds) = ("receipt", "doubled", duration.wholeMilliseconds)
        case .receipt(.undelivered(let code)):
            (kind, when) = ("receipt", "undelivered")
            self.code = code
        case .error(let code):
            kind = "error"
            self.code = code
        case .reason(let reason): (kind, self.reason) = ("reason", reason)
        case .rate(let limit): (kind, perSecond) = ("rate", limit)
        }
    }

    private init(kind: String) {
        self.kind = kind
    }

    /// The duration, at most an hour so that no fault outlives a test run.
    fileprivate func duration(default fallback: Int? = nil) throws(FaultRequestError) -> Duration {
        guard let milliseconds = milliseconds ?? fallback, (0...3_600_000).contains(milliseconds) else {
            throw FaultRequestError("milliseconds is between 0 and 3600000")
        }
        return .milliseconds(milliseconds)
    }
}

extension Duration {
    fileprivate var wholeMilliseconds: Int {
        Int(clamping: components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000)
    }
}
