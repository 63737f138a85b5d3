// SPDX-License-Identifier: Apache-2.0

import Testing

/// What a fleet does with requests, a few at a time; one test after the other, since each runs processes of its own.
@Suite(.serialized) enum Scenarios {}

/// What a fleet does under load, while parts of it come and go; beside the scenarios.
@Suite(.serialized) enum Endurance {}

/// What the program does besides working: its commands, and how it refuses to start; beside the others.
@Suite(.serialized) enum CommandLineSuite {}

/// What only a real Apache Kafka does, one thing after the other; beside the others.
@Suite(.serialized, .timeLimit(.minutes(5))) enum KafkaFeatures {}
