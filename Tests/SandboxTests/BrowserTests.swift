// SPDX-License-Identifier: Apache-2.0

import TestSupport
import TestTools
import Testing

@testable import Sandbox

/// Tests the page in Chromium.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct BrowserTests {
    /// Waits until a JavaScript expression is true on the page.
    private static func expect(_ browser: Browser, _ expression: String) async throws {
        try await eventually(expression) { try await browser.holds(expression) }
    }

    private static func text(_ selector: String, is text: String) -> String {
        "document.querySelector('\(selector)')?.textContent === '\(text)'"
    }

    private static let phones = "document.querySelectorAll('.phone').length"

    /// A script that enters a text in the filter.
    private static func filter(_ text: String) -> String {
        "document.querySelector('#filter').value = '\(text)', "
            + "document.querySelector('#filter').dispatchEvent(new Event('input'))"
    }

    /// A script that passes an event to the page as its stream does.
    private static func event(_ kind: String, _ value: String) -> String {
        "enqueue({ type: '\(kind)', data: JSON.stringify(\(value)) })"
    }

    private static func isShown(_ selector: String) -> String {
        "document.querySelector('\(selector)').checkVisibility()"
    }

    @Test
    func `mail comes while the page is open, can be read, and its HTML can do nothing`() async throws {
        try await withSandbox { client in
            try await Browser.with(page: "http://127.0.0.1:\(client.port)/#mail") { browser in
                let mailPort = try await client.sandbox.waitUntilListeningForMail().port
                try await Self.expect(browser, Self.text("#smtp-origin", is: "127.0.0.1:\(mailPort)"))
                try await Self.expect(browser, Self.isShown("#mail-empty"))
                let mail = try await MailClient(client.sandbox)
                try await mail.send(MailClient.mail(subject: "<b>Bold</b> & first"), to: ["p@example.com"])
                try await Self.expect(browser, Self.text(".letter .what", is: "<b>Bold</b> & first"))
                try await Self.expect(browser, Self.text("#mail-subject", is: "<b>Bold</b> & first"))
                try await Self.expect(browser, "!(\(Self.isShown("#mail-empty")))")
                try await Self.expect(
                    browser,
                    "document.querySelector('#mail-html').src.endsWith('/sandbox/emails/1/html')"
                )
                try await Self.expect(browser, "document.querySelector('#mail-html').getAttribute('sandbox') === ''")
                // The sandboxed frame has its own origin, so even the page cannot read it.
                try await Self.expect(browser, "document.querySelector('#mail-html').contentDocument === null")
                try await Self.expect(browser, "document.title === 'code-courier sandbox'")
                try await Self.expect(browser, Self.text("#copy-code b", is: "482913"))
                try await browser.perform("document.querySelector('#part-text').click()")
                try await Self.expect(
                    browser,
                    "document.querySelector('#mail-text').textContent.includes('482913. Or')"
                )
                try await Self.expect(browser, "!(\(Self.isShown("#mail-html"))) && \(Self.isShown("#mail-text"))")
                try await mail.send(MailClient.mail(subject: "second"), to: ["q@example.com"])
                try await Self.expect(browser, Self.text(".letter .what", is: "second"))
                // The mail being read stays open.
                try await Self.expect(browser, Self.text("#mail-subject", is: "<b>Bold</b> & first"))
                try await browser.perform("document.querySelector('.letter').click()")
                try await Self.expect(browser, Self.text("#mail-subject", is: "second"))
                await client.sandbox.clearMessages()
                try await Self.expect(browser, Self.isShown("#mail-empty"))
            }
        }
    }

    @Test
    func `the tabs lead to phones and pushes, by click and by key`() async throws {
        try await withSandbox { client in
            _ = try await client.vonage()
            _ = try await client.push()
            try await Browser.with(page: "http://127.0.0.1:\(client.port)/") { browser in
                try await Self.expect(browser, Self.text(".phone .number", is: "+1 415 555 0123"))
                try await Self.expect(browser, Self.text(".phone .by", is: "Vonage"))
                try await Self.expect(browser, Self.text("#tab-push b", is: "1"))
                let key =
                    "document.querySelector('#tab-phones').dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowLeft'}))"
                try await browser.perform(key)
                try await Self.expect(browser, Self.isShown("#push-list .card"))
                try await Self.expect(browser, Self.text(".card .secret code", is: "s3cret"))
                try await Self.expect(browser, "document.activeElement.id === 'tab-push' && location.hash === '#push'")
                try await browser.perform("document.querySelector('#tab-phones').click()")
                try await Self.expect(browser, Self.isShown(".phone"))
                try await Self.expect(browser, "document.querySelector('#view-push').hidden")
            }
        }
    }

    @Test
    func `the filter finds phones for which the wall has no room`() async throws {
        try await withSandbox { client in
            for number in 1...122 { _ = try await client.vonage(["to": String(14_155_550_000 + number)]) }
            try await Browser.with(page: "http://127.0.0.1:\(client.port)/") { browser in
                try await Self.expect(browser, Self.text("#count-phones", is: "122"))
                try await Self.expect(browser, "\(Self.phones) === 120 && \(Self.isShown("#more"))")
                try await browser.perform(Self.filter("0 001"))
                try await Self.expect(browser, Self.text(".phone .number", is: "+1 415 555 0001"))
                // New messages that do not match the filter leave the room to those that match.
                _ = try await client.vonage(["to": "14155550123"])
                try await Self.expect(browser, Self.text("#count-phones", is: "123"))
                try await Self.expect(browser, "\(Self.phones) === 1 && !(\(Self.isShown("#more")))")
                try await browser.perform(Self.filter("999"))
                try await Self.expect(browser, "\(Self.phones) === 0 && \(Self.isShown("#nothing"))")
                try await browser.perform(Self.filter(""))
                try await Self.expect(browser, Self.text(".phone .number", is: "+1 415 555 0123"))
                try await Self.expect(browser, "\(Self.phones) === 120 && !(\(Self.isShown("#nothing")))")
            }
        }
    }

    @Test
    func `the filter finds what a phone shows: a code, a word, an earlier message`() async throws {
        try await withSandbox { client in
            _ = try await client.vonage(["to": "14155550001", "text": "731904 is your Acme code."])
            _ = try await client.vonage(["to": "14155550001", "text": "Welcome back."])
            _ = try await client.vonage(["to": "14155550002", "text": "280616 is your Acme code."])
            try await Browser.with(page: "http://127.0.0.1:\(client.port)/") { browser in
                try await Self.expect(browser, "\(Self.phones) === 2")
                for wanted in ["731904", "7319", "welcome", "555 0001"] {
                    try await browser.perform(Self.filter(wanted))
                    try await Self.expect(browser, "\(Self.phones) === 1")
                    try await Self.expect(browser, Self.text(".phone .number", is: "+1 415 555 0001"))
                }
                try await browser.perform(Self.filter("your acme"))
                try await Self.expect(browser, "\(Self.phones) === 2")
                try await browser.perform(Self.filter("000000"))
                try await Self.expect(browser, "\(Self.phones) === 0 && \(Self.isShown("#nothing"))")
            }
        }
    }

    @Test
    func `the status of a message whose bubble has gone is only counted`() async throws {
        let slow = SandboxConfiguration(sentAfter: .seconds(3600), deliveredAfter: .seconds(3600))
        try await withSandbox(slow) { client in
            for number in 1...41 { _ = try await client.vonage(["text": "message \(number)"]) }
            let first = try #require(await client.sandbox.messages().first)
            try await Browser.with(page: "http://127.0.0.1:\(client.port)/") { browser in
                try await Self.expect(browser, Self.text("#count-messages", is: "41"))
                let status = "{ sid: '\(first.sid)', to: '\(first.to)', body: 'message 1', status: 'delivered' }"
                try await browser.perform(Self.event("status", status))
                try await Self.expect(browser, Self.text("#count-delivered", is: "1"))
                try await Self.expect(browser, Self.text("#count-messages", is: "41"))
                try await Self.expect(browser, Self.text(".message:first-child .bubble", is: "message 2"))
                try await Self.expect(browser, Self.text(".message:last-child .bubble", is: "message 41"))
            }
        }
    }

    @Test
    func `an open mail can still be copied from when newer ones have pushed it off the list`() async throws {
        try await withSandbox { client in
            try await MailClient(client.sandbox).send(MailClient.mail(subject: "first"), to: ["p@example.com"])
            try await Browser.with(page: "http://127.0.0.1:\(client.port)/#mail") { browser in
                try await Self.expect(browser, Self.text("#mail-subject", is: "first"))
                let newer = "{ sequence: index + 2, receivedAt: 0, from: '', to: [], subject: 'newer', links: [] }"
                try await browser.perform("Array.from({ length: 500 }, (_, index) => \(Self.event("email", newer)))")
                try await Self.expect(browser, Self.text(".list li:last-child .what", is: "newer"))
                try await Self.expect(browser, "document.querySelectorAll('.letter').length === 500")
                try await browser.perform("document.querySelector('#copy-code').click()")
                try await Self.expect(browser, Self.text("#toast", is: "Copied 482913"))
                try await browser.perform("document.querySelector('#copy-link').click()")
                try await Self.expect(browser, Self.text("#toast", is: "Copied the link"))
            }
        }
    }

    @Test
    func `the page can forget what it shows`() async throws {
        try await withSandbox { client in
            _ = try await client.vonage()
            try await Browser.with(page: "http://127.0.0.1:\(client.port)/") { browser in
                try await Self.expect(browser, Self.isShown(".phone"))
                try await browser.perform("document.querySelector('#clear').click()")
                try await Self.expect(browser, Self.isShown("#empty"))
                #expect(await client.sandbox.messages().isEmpty)
            }
        }
    }

    @Test
    func `a narrow page shows the list or the mail, and nothing is wider than it`() async throws {
        try await withSandbox { client in
            let mail = try await MailClient(client.sandbox)
            try await mail.send(
                MailClient.mail(subject: "long" + String(repeating: "g", count: 200)),
                to: ["p@example.com"]
            )
            try await Browser.with(page: "http://127.0.0.1:\(client.port)/#mail", width: 500) { browser in
                let isNarrow = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
                try await Self.expect(browser, "\(Self.isShown(".letter")) && \(isNarrow)")
                try await Self.expect(browser, "!(\(Self.isShown("#mail-open")))")
                try await browser.perform("document.querySelector('.letter').click()")
                try await Self.expect(browser, "\(Self.isShown("#mail-open")) && \(isNarrow)")
                try await Self.expect(browser, "document.activeElement.id === 'mail-back'")
                try await browser.perform("document.querySelector('#mail-back').click()")
                try await Self.expect(browser, "\(Self.isShown(".letter")) && !(\(Self.isShown("#mail-open")))")
            }
        }
    }
}
