// SPDX-License-Identifier: Apache-2.0

import TestTools
import Testing

@testable import Sandbox

/// Tests in Chromium the page as a phone shows it, with a fleet and after a reconnect.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct FleetPageTests {
    private static func expect(_ browser: Browser, _ expression: String) async throws {
        try await eventually(expression) { try await browser.holds(expression) }
    }

    private static func shows(_ selector: String, _ text: String) -> String {
        "document.querySelector('\(selector)')?.checkVisibility()"
            + " && document.querySelector('\(selector)').textContent === '\(text)'"
    }

    private static func click(_ selector: String) -> String { "document.querySelector('\(selector)').click()" }

    private static let isNarrow = "document.documentElement.scrollWidth <= 390"

    @Test
    func `a phone, a mail and a push are answered on a dark page of 390 pixels`() async throws {
        try await withSandbox { client in
            client.sandbox.connect(RecordingFleet(approving: "482913"))
            _ = try await client.send(.message())
            try await MailClient(client.sandbox).send(MailClient.mail(), to: ["person@example.com"])
            _ = try await client.push()
            let message = try #require(await client.sandbox.messages().first)
            try await Browser.with(page: "http://127.0.0.1:\(client.port)/#phones") { browser in
                try await browser.emulate(width: 390, height: 844, scheme: "dark")
                try await Self.expect(browser, "getComputedStyle(document.body).color === 'rgb(236, 239, 246)'")
                try await Self.expect(browser, "innerWidth === 390 && \(Self.isNarrow)")
                try await Self.expect(browser, Self.shows(".phone .answer button", "Use this code"))
                try await browser.perform(Self.click(".phone .answer button"))
                try await Self.expect(
                    browser,
                    Self.shows(".phone .verdict", "no event about this message has come yet; try again")
                )
                try await Self.expect(browser, Self.isNarrow)
                await client.sandbox.show(try delivery(about: ["providerMessageId": message.sid]))
                await client.sandbox.show(try delivery(about: ["id": "0191b6a0-send"], channel: "email"))
                await client.sandbox.show(try delivery(about: ["id": Client.pushHeaders["apns-id"] ?? ""]))
                try await browser.perform(Self.click(".phone .answer button"))
                try await Self.expect(browser, Self.shows(".phone .verdict", "✓ approved"))

                try await browser.perform("location.hash = 'mail'")
                try await browser.perform(Self.click(".letter"))
                try await browser.perform(Self.click("#mail-answers button"))
                try await Self.expect(browser, Self.shows("#mail-answers .verdict", "✓ approved"))
                try await Self.expect(browser, Self.isNarrow)

                try await browser.perform("location.hash = 'push'")
                try await browser.perform(Self.click(".card .answer button"))
                try await Self.expect(browser, Self.shows(".card .verdict", "✕ incorrect, 4 guesses left"))
                try await Self.expect(browser, Self.isNarrow)
            }
        }
    }

    @Test
    func `the form makes a request and tells what becomes of it`() async throws {
        try await withSandbox { client in
            let fleet = RecordingFleet(approving: "1")
            client.sandbox.connect(fleet)
            try await Browser.with(page: "http://127.0.0.1:\(client.port)/#requests") { browser in
                try await browser.emulate(width: 390, height: 844, scheme: "light")
                try await Self.expect(browser, Self.shows("#request-note", "Everything is allowed."))
                try await Self.expect(browser, Self.shows("#delivery-empty", "No event yet."))
                try await browser.perform("document.querySelector('#request-to').value = '+1 650 253 0000'")
                try await browser.perform("document.querySelector('#request-form').requestSubmit()")
                try await Self.expect(browser, Self.shows("#request-outcome", "published; no event yet"))
                #expect(fleet.recipients == [.phone("+16502530000")])
                await client.sandbox.show(try delivery(about: [:]))
                try await Self.expect(browser, Self.shows("#request-outcome", "sent"))
                await client.sandbox.show(try delivery(about: [:], status: "delivered"))
                try await Self.expect(browser, Self.shows("#request-outcome", "sent → delivered"))
                try await Self.expect(browser, Self.shows(".delivery .what", "delivered"))
                try await Self.expect(browser, Self.shows(".delivery .whom", "+1******0123 US"))
                try await Self.expect(browser, Self.isNarrow)
                try await browser.perform("document.querySelector('#request-to').value = '<b>nobody</b>'")
                try await browser.perform("document.querySelector('#request-form').requestSubmit()")
                let fault = "to must be a number such as +16502530000, an e-mail address or a device token"
                try await Self.expect(browser, Self.shows("#request-outcome", fault))
            }
        }
    }

    @Test
    func `without a fleet the page has neither answers nor requests`() async throws {
        try await withSandbox { client in
            _ = try await client.send(.message())
            try await Browser.with(page: "http://127.0.0.1:\(client.port)/#requests") { browser in
                try await Self.expect(browser, "document.querySelector('.phone .bubble')?.checkVisibility()")
                try await Self.expect(browser, "!document.querySelector('.answer').checkVisibility()")
                try await Self.expect(browser, "!document.querySelector('#tab-requests').checkVisibility()")
            }
        }
    }

    @Test
    func `a page whose sandbox was restarted shows what the new one holds`() async throws {
        var port = 0
        try await Browser.with(page: "about:blank") { browser in
            try await withSandbox { client in
                port = client.port
                _ = try await client.send(.message(body: "first 111111"))
                try await browser.perform("location.href = 'http://127.0.0.1:\(client.port)/'")
                try await Self.expect(browser, Self.shows(".phone .latest", "111111"))
            }
            try await Self.expect(browser, Self.shows("#live", "reconnecting"))
            try await withSandbox(on: port) { client in
                _ = try await client.send(.message(body: "second 222222"))
                try await Self.expect(browser, Self.shows("#live", "live"))
                try await Self.expect(browser, Self.shows(".phone .latest", "222222"))
                try await Self.expect(browser, "document.querySelectorAll('.phone .message').length === 1")
            }
        }
    }
}
