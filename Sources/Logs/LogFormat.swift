// SPDX-License-Identifier: Apache-2.0

/// How a line is written.
package enum LogFormat: String, Sendable, CaseIterable {
    /// One flat JSON object.
    case json

    /// One OTLP JSON document with one log record, as OpenTelemetry's file exporter writes it.
    case otel

    /// For people.
    case text
}
