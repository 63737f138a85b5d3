// SPDX-License-Identifier: Apache-2.0

import Formats
import Logging

// MARK: - Requests

extension LoggedEvent {
    package static let decisionPublished = LoggedEvent(
        "decision.published",
        .debug,
        "delivery event published",
        decisionFields
    )
    package static let sendUnknown = LoggedEvent(
        "send.unknown",
        .warning,
        "unknown whether a message was sent",
        decisionFields
    )
    package static let sendCodeMismatch = LoggedEvent(
        "send.code_mismatch",
        .error,
        "a send's code does not match its stored hash: the message is not sent",
        [.verificationID, .sendID, .requestID, .codeKey, .hashKey, .traceID, .spanID]
    )
    package static let deadLetter = LoggedEvent(
        "dead_letter.published",
        .warning,
        "unusable record published to the dead-letter topic",
        [.reason, .topic, .partition, .offset],
        throttledBy: [.reason]
    )

    private static let decisionFields: [LogField] = [
        .verificationID, .requestID, .sendID, .tenant, .channel, .region, .status, .reason, .rule, .provider,
        .errorCode, .durationMilliseconds, .traceID, .spanID,
    ]
}

// MARK: - Providers

extension LoggedEvent {
    package static let providerAnswered = LoggedEvent(
        "provider.answered",
        .debug,
        "provider took a message",
        answerFields
    )
    package static let providerRefused = LoggedEvent(
        "provider.refused",
        .info,
        "provider did not take a message",
        answerFields,
        throttledBy: [.provider, .outcome, .errorCode]
    )
    package static let providerMisconfigured = LoggedEvent(
        "provider.misconfigured",
        .error,
        "provider refuses this account: an operator must act",
        answerFields,
        throttledBy: [.provider, .errorCode]
    )
    package static let providerPaused = LoggedEvent(
        "provider.paused",
        .warning,
        "provider fails and is paused: its route's other providers get its messages",
        pauseFields
    )
    package static let routeDead = LoggedEvent(
        "route.dead",
        .error,
        "no provider of a route accepts messages: repair it or add another one",
        pauseFields
    )
    package static let providerResumed = LoggedEvent(
        "provider.resumed",
        .notice,
        "provider takes messages again",
        [.provider]
    )
    package static let providerTurnsFailed = LoggedEvent(
        "provider.turns_failed",
        .warning,
        "could not get rate-limit tokens: the messages wait",
        [.error],
        throttledBy: []
    )
    package static let feedbackFailed = LoggedEvent(
        "feedback.failed",
        .warning,
        "an approved message could not be reported to its provider: it is not tried again",
        [.provider, .outcome, .errorCode, .error],
        throttledBy: [.provider, .outcome, .errorCode]
    )
    package static let providerLogged = LoggedEvent(
        "provider.logged",
        .info,
        "message not sent: this provider only logs",
        [.provider, .recipient, .sendID, .traceID, .spanID]
    )

    private static let pauseFields: [LogField] = [.provider, .errorCode, .pause, .alternatives]
    private static let answerFields: [LogField] = [
        .provider, .outcome, .errorCode, .verificationID, .requestID, .sendID, .tenant, .region,
        .durationMilliseconds, .traceID, .spanID,
    ]
}

// MARK: - The toll-fraud brake

extension LoggedEvent {
    package static let brakeReader = LoggedEvent(
        "brake.reader",
        .notice,
        "this worker reads conversions for the fleet"
    )
    package static let brakeTripped = LoggedEvent(
        "brake.tripped",
        .warning,
        "too few codes are approved: the scope is blocked",
        scopeFields + [.expected, .observed, .trips, .until, .isAsleep],
        throttledBy: [.tenant, .scope]
    )
    package static let brakeHalfOpen = LoggedEvent(
        "brake.half_open",
        .info,
        "a blocked scope lets a few requests through as probes",
        scopeFields,
        throttledBy: [.tenant, .scope]
    )
    package static let brakeEnded = LoggedEvent(
        "brake.ended",
        .notice,
        "a scope is no longer blocked",
        scopeFields + [.probes, .probesApproved],
        throttledBy: [.tenant, .scope]
    )
    package static let brakeAsleep = LoggedEvent(
        "brake.asleep",
        .warning,
        "too few of a tenant's codes are approved for a verdict: its blocks only record",
        [.tenant, .approvals],
        again: .seconds(3600)
    )
    package static let brakeOverridden = LoggedEvent(
        "brake.overridden",
        .notice,
        "an operator's order let a request pass a block: logged once for each block",
        scopeFields + [.order],
        throttledBy: [.tenant, .scope]
    )
    package static let brakeLaunchOver = LoggedEvent(
        "brake.launch_over",
        .notice,
        "a launch has used its messages: blocks of its region and ranges refuse again",
        [.tenant, .region, .sends, .maximum]
    )
    package static let conversionLow = LoggedEvent(
        "conversion.low",
        .warning,
        "too few approvals in a region although its traffic is normal: check its providers",
        [.tenant, .region, .expected, .observed],
        again: .seconds(3600)
    )

    private static let scopeFields: [LogField] = [.tenant, .scope, .region, .brakeKey]
}

// MARK: - Adaptive routes

extension LoggedEvent {
    package static let routeShares = LoggedEvent(
        "route.shares",
        .info,
        "a provider's share of a region's messages; without a region, of those without evidence",
        [.tenant, .region, .provider, .share, .conversion, .observations],
        again: .seconds(3600)
    )
    package static let routeSilent = LoggedEvent(
        "route.silent",
        .warning,
        "a provider takes messages and people get none: others carry them",
        [.tenant, .region, .provider, .expected, .observed, .until],
        throttledBy: [.tenant, .provider],
        again: .seconds(900)
    )
    package static let routeRecovered = LoggedEvent(
        "route.recovered",
        .notice,
        "a silent provider delivers again",
        [.tenant, .region, .provider, .expected, .observed],
        throttledBy: [.tenant, .provider]
    )
}

// MARK: - Budgets

extension LoggedEvent {
    package static let budgetWarned = LoggedEvent(
        "budget.warned",
        .warning,
        "a budget's use reached a warning level: check whether this is expected",
        budgetFields + [.percent, .forecast],
        throttledBy: [.tenant, .budget, .percent],
        again: .seconds(3600)
    )
    package static let budgetReserved = LoggedEvent(
        "budget.reserved",
        .warning,
        "a budget is spent except for its reserve: only confirmed people are served",
        budgetFields + [.until],
        throttledBy: [.tenant, .budget],
        again: .seconds(60)
    )
    package static let budgetExhausted = LoggedEvent(
        "budget.exhausted",
        .error,
        "a budget is spent: its requests are refused, or only recorded, until it has money again",
        budgetFields + [.until, .overshoot, .error],
        throttledBy: [.tenant, .budget],
        again: .seconds(60)
    )
    package static let budgetKept = LoggedEvent(
        "budget.kept",
        .warning,
        "could not give leased money back: it counts as spent until its step leaves the window",
        [.error],
        throttledBy: []
    )

    private static let budgetFields: [LogField] = [.tenant, .budget, .spent, .amount, .currency, .period, .mode]
}
