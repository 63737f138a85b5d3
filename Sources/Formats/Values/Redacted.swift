// SPDX-License-Identifier: Apache-2.0

/// A value whose description, dump and mirror hide its sensitive content.
///
/// All three show only `description`, in which a conforming type includes what logs may contain.
package protocol Redacted: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Redacted {
    package var debugDescription: String { description }

    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
