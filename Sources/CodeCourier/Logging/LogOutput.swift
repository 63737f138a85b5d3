// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging

/// Makes the worker's logger: JSON lines for machines, a short text for people.
enum LogOutput {
    static func makeLogger(_ settings: LogSettings) -> Logger {
        let format = settings.format ?? (isatty(STDOUT_FILENO) == 1 ? .text : .json)
        let level = Logger.Level(settings.level)
        return Logger(label: "code-courier") { _ in LineLogHandler(format: format, level: level) }
    }
}

extension Logger.Level {
    fileprivate init(_ level: LogLevel) {
        self =
            switch level {
            case .trace: .trace
            case .debug: .debug
            case .info: .info
            case .notice: .notice
            case .warning: .warning
            case .error: .error
            case .critical: .critical
            }
    }
}
