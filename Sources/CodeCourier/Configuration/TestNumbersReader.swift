// SPDX-License-Identifier: Apache-2.0

import Formats
import SettingsReading
import Verification

/// Reads the test numbers of a tenant, which get a fixed code and no message.
enum TestNumbersReader {
    static func read(_ value: YAMLValue) -> [TestNumber] {
        guard let elements = value.list(of: "test numbers") else { return [] }
        if elements.count > 10 { value.fault("must have at most 10 test numbers") }
        var numbers: [TestNumber] = []
        for element in elements {
            guard let number = number(element) else { continue }
            if numbers.contains(where: { $0.number == number.number }) {
                element.fault("repeats the number of an earlier element; keep one")
            }
            numbers.append(number)
        }
        return numbers
    }

    private static func number(_ element: YAMLValue) -> TestNumber? {
        guard let mapping = element.mapping(keys: ["number", "code", "until", "fault"]) else { return nil }
        let number = mapping.required("number", such: "\"+16505550123\"")?.read(.phoneNumber)
        let code = mapping.required("code", such: "\"654321\"")?.read(.digits(6))
        let until = mapping["until"].map { $0.read(.time) }
        let fault = mapping["fault"].map { $0.read(ValueRule<TestNumber.Fault>.choice) }
        guard let number, let code else { return nil }
        return TestNumber(number: number, code: code, until: until ?? nil, fault: fault ?? nil)
    }
}

extension ValueRule where Value == PhoneNumber {
    fileprivate static var phoneNumber: Self {
        let ranges = ReservedNumbers.patterns.joined(separator: ", ")
        let requirement = "must be a number in quotes from a range that no person can have: \(ranges)"
        return Self(requirement: requirement) { text in
            PhoneNumber(text).flatMap { ReservedNumbers.contain($0) ? $0 : nil }
        }
    }
}

extension ValueRule where Value == Timestamp {
    /// A date, as its first moment in UTC, or an RFC 3339 time.
    fileprivate static var time: Self {
        Self(requirement: "must be a date such as 2027-01-01 or a time such as 2027-01-01T00:00:00Z") { text in
            Timestamp(rfc3339: text.utf8.count == 10 ? "\(text)T00:00:00Z" : text)
        }
    }
}
