// SPDX-License-Identifier: Apache-2.0

/// The part of verifications that people approve, shrunk towards a wider group's rate while there are few.
package struct ApprovalRate: Sendable, Equatable {
    /// The number of verifications that the wider group's rate stands for.
    package static let weight = 20.0

    /// The rate where nothing is known: conversion by SMS is about 65 % in the field.
    package static let unknown = ApprovalRate(value: 0.65)

    package let value: Double

    private init(value: Double) {
        self.value = value
    }

    /// - Parameters:
    ///   - approved: of these verifications.
    ///   - verifications: matured ones, or their expected part.
    ///   - parent: the wider group's rate.
    ///   - weight: the number of verifications that it stands for.
    package init(
        approved: Double,
        of verifications: Double,
        parent: ApprovalRate = .unknown,
        weight: Double = Self.weight
    ) {
        value = (approved + weight * parent.value) / (verifications + weight)
    }
}
