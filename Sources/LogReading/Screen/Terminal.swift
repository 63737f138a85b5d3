// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The terminal of standard output, in full-screen mode with unbuffered keys.
///
/// Keys are read from `/dev/tty`, because standard input is the log.
package final class Terminal {
    package struct Size: Equatable {
        package let width: Int
        package let height: Int
    }

    /// The descriptor that becomes readable at a key.
    package let keyboard: Int32
    private let before: termios

    /// Enters full-screen mode; nil when standard output is no terminal or the process has none.
    package init?() {
        guard isatty(STDOUT_FILENO) == 1 else { return nil }
        let keyboard = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        var modes = termios()
        guard keyboard >= 0, tcgetattr(keyboard, &modes) == 0 else {
            if keyboard >= 0 { close(keyboard) }
            return nil
        }
        self.keyboard = keyboard
        before = modes
        modes.c_lflag &= ~tcflag_t(ICANON | ECHO)
        // Ctrl-Z is disabled: a suspended reader would let its pipe fill up while the writer continues.
        withUnsafeMutableBytes(of: &modes.c_cc) { keys in keys[Int(VSUSP)] = 0 }
        _ = tcsetattr(keyboard, TCSANOW, &modes)
        Self.put("\u{1b}[?1049h\u{1b}[?25l")
    }

    /// Restores the terminal.
    package func leave() {
        Self.put("\u{1b}[?25h\u{1b}[?1049l")
        var modes = before
        _ = tcsetattr(keyboard, TCSANOW, &modes)
        close(keyboard)
    }

    package var size: Size { Self.outputSize }

    /// The columns of standard output; nil if it is no terminal.
    package static var outputWidth: Int? { isatty(STDOUT_FILENO) == 1 ? outputSize.width : nil }

    private static var outputSize: Size {
        var window = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0, window.ws_row > 0 else {
            return Size(width: 80, height: 24)
        }
        return Size(width: Int(window.ws_col), height: Int(window.ws_row))
    }

    /// True when a key to quit was pressed since the last call.
    package func isQuitHit() -> Bool {
        var keys = [UInt8](repeating: 0, count: 64)
        let count = read(keyboard, &keys, keys.count)
        guard count > 0 else { return false }
        return keys[..<count].contains { $0 == UInt8(ascii: "q") || $0 == UInt8(ascii: "Q") || $0 == 0x03 }
    }

    /// Overwrites the screen without clearing it first, which would flicker.
    package func draw(_ lines: [String]) {
        Self.put("\u{1b}[H" + lines.joined(separator: "\u{1b}[K\r\n") + "\u{1b}[K\u{1b}[J")
    }

    private static func put(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            var written = 0
            while written < bytes.count {
                let count = write(STDOUT_FILENO, bytes.baseAddress.map { $0 + written }, bytes.count - written)
                guard count > 0 || errno == EINTR else { return }
                written += max(0, count)
            }
        }
    }
}
