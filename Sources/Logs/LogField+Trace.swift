// SPDX-License-Identifier: Apache-2.0

package import Verification

extension [LogField: LogValue] {
    /// The non-empty fields, with those of the line's trace.
    package func adding(_ trace: TraceContext?) -> Self {
        var fields = filter { $0.value != .text("") }
        guard let trace else { return fields }
        fields[.traceID] = .text(trace.traceID)
        fields[.spanID] = .text(trace.parentID)
        return fields
    }
}
