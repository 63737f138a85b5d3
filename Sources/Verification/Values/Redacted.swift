// SPDX-License-Identifier: Apache-2.0

/// A value that describes itself without what must not be seen, to interpolation, `dump` and mirrors alike.
///
/// `description` is the only view; a conforming type says in it what may appear in a log.
package protocol Redacted: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Redacted {
    package var debugDescription: String { description }

    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension PhoneNumber: Redacted {}
