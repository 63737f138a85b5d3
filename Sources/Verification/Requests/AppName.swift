// SPDX-License-Identifier: Apache-2.0

/// The name of an app as it may stand in a message: 1 to 40 Unicode scalars that no phone makes a link or a new line of.
///
/// The name is the caller's only free text in a message that people trust. So it has no control character, no line
/// separator, no mark that turns the direction of what follows, and nothing that looks like a link: `://`, `www.`, or a
/// point between a letter or digit and two letters, as in `example.com`.
package struct AppName: Sendable, Hashable, CustomStringConvertible {
    package let text: String

    package init?(_ text: String) {
        guard text.isPlain(within: 1...40) else { return nil }
        let scalars = Array(text.unicodeScalars)
        guard !scalars.contains(where: Self.isInvisible) else { return nil }
        guard !Self.contains("://", in: scalars), !Self.contains("www.", in: scalars) else { return nil }
        guard !Self.hasDomain(scalars) else { return nil }
        self.text = text
    }

    package var description: String { text }

    /// Line and paragraph separators, marks and isolates of direction, and the byte order mark.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x061c, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069, 0xfeff: true
        default: false
        }
    }

    /// Whether lower-case ASCII marks stand somewhere, in either case.
    private static func contains(_ marks: StaticString, in scalars: [Unicode.Scalar]) -> Bool {
        let wanted = marks.withUTF8Buffer { Array($0) }
        guard scalars.count >= wanted.count else { return false }
        return (0...scalars.count - wanted.count).contains { start in
            zip(wanted, scalars[start...]).allSatisfy { mark, scalar in
                let value = scalar.value
                return (0x41...0x5a).contains(value) ? value | 0x20 == mark : value == mark
            }
        }
    }

    /// Whether a point, of those that domain names take for one, joins a letter or digit and two letters.
    private static func hasDomain(_ scalars: [Unicode.Scalar]) -> Bool {
        guard scalars.count >= 4 else { return false }
        return (1..<scalars.count - 2).contains { index in
            guard points.contains(scalars[index].value) else { return false }
            let before = scalars[index - 1].properties
            guard before.isAlphabetic || before.numericType != nil else { return false }
            return scalars[index + 1].properties.isAlphabetic && scalars[index + 2].properties.isAlphabetic
        }
    }

    private static let points: Set<UInt32> = [0x2e, 0x3002, 0xff0e, 0xff61]
}
