// SPDX-License-Identifier: Apache-2.0

/// The ways of a request whose durations are told in `worker.stats`.
package enum Latency: String, Sendable, CaseIterable {
    /// A batch is read until its decisions are durable.
    case intake

    /// A record is appended until it is decided.
    case queue

    /// A send is claimed until its provider is called.
    case dispatch

    /// One call to a provider.
    case provider

    /// What became of a batch of sends is being written.
    case record

    /// A batch of events is being produced.
    case publish

    /// A record is appended until its provider is called.
    case requestToProvider = "request_to_provider"

    /// A record is appended until the broker has the event that answers it.
    case requestToEvent = "request_to_event"
}
