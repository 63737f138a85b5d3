// SPDX-License-Identifier: Apache-2.0

import Testing

/// Fleets with a few requests at a time; serialized, since each test runs its own processes.
@Suite(.serialized) enum Scenarios {}

/// Fleets under load while parts of them stop and restart; in parallel with the scenarios.
@Suite(.serialized) enum Endurance {}

/// The program's commands and its failures at the start; in parallel with the others.
@Suite(.serialized) enum CommandLineSuite {}

/// Features of a real Apache Kafka, serialized; in parallel with the others.
@Suite(.serialized, .timeLimit(.minutes(5))) enum KafkaFeatures {}
