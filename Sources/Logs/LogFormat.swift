// SPDX-License-Identifier: Apache-2.0

/// The format of the log.
package enum LogFormat: String, Sendable, CaseIterable {
    /// One flat JSON object a line.
    case json

    /// One OTLP JSON document with one log record a line, as OpenTelemetry's file exporter writes it.
    case otel

    /// Text for people.
    case text
}
