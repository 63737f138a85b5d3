// SPDX-License-Identifier: Apache-2.0

import Providers

extension ProviderSettings {
    static func sns(_ entry: ProviderEntry, _ source: ConfigurationSource) -> SNSConfiguration? {
        let region = entry.required("region", .awsRegion, such: "eu-central-1", source)
        let keyID = entry.required("accessKeyId", .name(upTo: 128), such: "AKIA…", source)
        let secret = entry.requiredSecret("secretAccessKey", such: "secretAccessKeyFile: /run/secrets/aws", source)
        let token = source.secret(entry.key + ["sessionToken"])
        let baseURL = entry.optional("baseURL", .endpoint, source)
        let senderID = entry.optional("senderId", .senderID, source)
        let number = entry.optional("originationNumber", .origination, source)
        let type = entry.optional("smsType", .choice, source) ?? SNSConfiguration.SMSType.transactional
        let maxPrice = entry.optional("maxPrice", .price, source)
        guard let region, let keyID, let secret else { return nil }
        return SNSConfiguration(
            name: entry.name,
            region: region,
            baseURL: baseURL,
            accessKey: AccessKey(id: keyID, secret: secret.secret, sessionToken: token?.secret),
            senderID: senderID,
            originationNumber: number,
            smsType: type,
            maxPrice: maxPrice,
            connection: connection(entry, source)
        )
    }
}

extension ValueRule where Value == String {
    fileprivate static var awsRegion: Self {
        Self(requirement: "must be a region of AWS such as eu-central-1") { text in
            let fits = text.utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || isDigit(byte) || byte == UInt8(ascii: "-")
            }
            return (1...32).contains(text.utf8.count) && fits ? text : nil
        }
    }

    /// An address without a path, since the signature assumes the path `/`.
    fileprivate static var endpoint: Self {
        Self(requirement: "must be an address such as https://host:port, without a path") { text in
            address.parse(text).flatMap { $0.utf8.count { $0 == UInt8(ascii: "/") } == 2 ? $0 : nil }
        }
    }

    /// The form that Amazon's guide gives for sender ids.
    fileprivate static var senderID: Self {
        Self(requirement: "must be 3 to 11 letters, digits or hyphens, with at least one letter") { text in
            let fits = text.utf8.allSatisfy { byte in isLetter(byte) || isDigit(byte) || byte == UInt8(ascii: "-") }
            return (3...11).contains(text.utf8.count) && fits && text.utf8.contains(where: isLetter) ? text : nil
        }
    }

    fileprivate static var origination: Self {
        Self(requirement: "must be a phone number such as \"+12065550100\" or a short code, in quotes") { text in
            let digits = text.hasPrefix("+") ? text.dropFirst() : Substring(text)
            return (3...15).contains(digits.utf8.count) && digits.utf8.allSatisfy(isDigit) ? text : nil
        }
    }

    fileprivate static var price: Self {
        let number = ValueRule<Double>.number(in: 0.0001...100)
        return Self(requirement: "\(number.requirement), in US dollars a message") { text in
            number.parse(text).map { _ in text }
        }
    }
}

private func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
}

private func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
}
