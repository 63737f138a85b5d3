// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import TestTools
import Testing
import Verification

@testable import CodeCourier

@Suite("message preview")
struct MessagePreviewTests {
    private func preview(
        languages: [String],
        domain: String = "example.com",
        codeLength: Int = 6,
        region: Region = .unknown,
        linkValidity: Duration = .seconds(1200),
        _ messages: MessagePolicy = MessagePolicy()
    ) -> MessagePreview {
        let tenant = TenantPolicy(
            appName: "Acme",
            regions: RegionPolicy(.allowByDefault(disallowed: [])),
            emailLinks: EmailLinkPolicy(validity: linkValidity),
            routes: Routes(fallback: []),
            messages: messages
        )
        return MessagePreview(
            tenant: tenant,
            region: region,
            languages: languages,
            appName: "Shop",
            domain: domain,
            codeLength: codeLength
        )
    }

    private func exitCode(_ arguments: String...) async throws -> Int32 {
        do {
            try await MessagePreviewCommand.parse(arguments).run()
            return 0
        } catch let code as ExitCode {
            return code.rawValue
        }
    }

    @Test func `a mail shows the link as a person gets it`() throws {
        let mail = try #require(preview(languages: ["de"], domain: "shop.example").emails().first)
        let link = try #require(
            mail.text.firstMatch(of: /https:\/\/shop\.example\/__\/auth\/links\?mode=signIn&oobCode=[\w-]{43}&/)
        )
        #expect(
            mail.text[link.range.upperBound...].contains("&lang=de&continueUrl=https%3A%2F%2Fshop.example%2Fwelcome")
        )
    }

    @Test func `each variant has a row with its size`() {
        let table = preview(languages: ["de-AT", "ru"]).textMessages()
        #expect(table.isCheap)
        let head = "language  variant      form  alphabet  units  segments  text"
        let german = "123456 ist dein Code für Shop. Gültig für 10 Min."
        let russian = "Ваш код Shop: 123456. Действует 10 мин."
        #expect(
            table.lines == [
                head,
                "de        plain        full  GSM-7        49         1  \(german)",
                "de        domain       full  GSM-7        71         1  \(german)⏎⏎@example.com #123456",
                "de        Android app  full  GSM-7        62         1  \(german)⏎⏎FA+9qCX9VSu",
                "ru        plain        full  UCS-2        39         1  \(russian)",
                "ru        domain       full  UCS-2        61         1  \(russian)⏎⏎@example.com #123456",
                "ru        Android app  full  UCS-2        52         1  \(russian)⏎⏎FA+9qCX9VSu",
            ]
        )
    }

    @Test func `a region without autofill has one variant`() {
        let france = Region("FR") ?? .unknown
        let policy = MessagePolicy(regions: [france: RegionMessages(hasAutofill: false)])
        #expect(preview(languages: ["fr"], region: france, policy).textMessages().lines.count == 2)
        #expect(preview(languages: ["fr"], policy).textMessages().lines.count == 4)
    }

    @Test func `an e-mail is shown with its subject`() {
        let lines = preview(languages: ["de"], codeLength: 10).emailLines()
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("Subject: Bestätige deine E-Mail-Adresse – Shop\n\nShop\n") == true)
        #expect(lines.first?.contains("1234567890 (gültig für 10 Min.)") == true)
    }

    @Test func `the code of an e-mail lives no longer than its link, and is left out when that is too short`() {
        let short = preview(languages: ["de"], linkValidity: .seconds(300)).emailLines().first
        #expect(short?.contains("123456 (gültig für 5 Min.)") == true)
        let least = preview(languages: ["de"], linkValidity: .seconds(61)).emailLines().first
        #expect(least?.contains("123456 (gültig für ") == true)
        let shorter = preview(languages: ["de"], linkValidity: .seconds(60)).emailLines().first
        #expect(shorter?.contains("https://example.com/") == true)
        #expect(shorter?.contains("123456") == false)
    }

    @Test func `the exit code tells a text of two segments, and what cannot be shown`() async throws {
        let folder = try ScratchFolder()
        let policy = try folder.write(ExampleFiles.policy, to: "policy.yaml")
        let long = String(repeating: "a", count: 60)
        #expect(try await exitCode("--all") == 0)
        #expect(try await exitCode("--policy", policy, "--language", "hi", "--region", "IN") == 0)
        #expect(try await exitCode("--channel", "email", "--html") == 0)
        #expect(try await exitCode("--domain", "\(long).\(long).\(long).example") == 1)
        #expect(try await exitCode("--policy", policy, "--tenant", "other") == 2)
        #expect(try await exitCode("--policy", "\(folder.path)/missing.yaml") == 2)
    }

    @Test(arguments: [
        ["--language", "german-"], ["--region", "in"], ["--app-name", "www.acme"], ["--domain", "localhost"],
        ["--code-length", "11"], ["--html"], ["--all", "--language", "de"], ["--channel", "fax"],
    ])
    func `a wrong option is refused with its rule`(arguments: [String]) {
        #expect(throws: (any Error).self) { try MessagePreviewCommand.parse(arguments) }
    }
}
