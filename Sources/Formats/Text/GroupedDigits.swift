// SPDX-License-Identifier: Apache-2.0

extension Int {
    /// The number with commas between thousands, such as `1,234,567`.
    package var grouped: String {
        let digits = String(magnitude)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        return self < 0 ? "-\(text)" : text
    }
}
