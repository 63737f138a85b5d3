// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Providers

@Suite(.timeLimit(.minutes(1))) struct `A pattern for answers` {
    @Test(arguments: ["(a+)+b", "(a|a)*b", "(a|aa)+$b", "([a-z]+)*\\d", "(.*a){12}b", "^(([a-z])+.)+[A-Z]([a-z])+$"])
    func `is searched for in a time that grows with the text alone`(expression: String) throws {
        let pattern = try #require(AnswerPattern(expression))
        #expect(!pattern.matches(String(repeating: "a", count: 100_000)))
    }

    @Test func `is looked for in 4 KiB`() throws {
        let pattern = try #require(AnswerPattern("id: ([0-9]+)"))
        let padding = { String(repeating: "x", count: $0) }
        #expect(pattern.word(in: padding(4091) + "id: 789") == "7")
        #expect(!pattern.matches(padding(4092) + "id: 789"))
        // The limit counts bytes, not characters.
        #expect(!pattern.matches(String(repeating: "😀", count: 1024) + "id: 789"))
    }

    @Test(arguments: [
        ("(?<id>[0-9]+)!", "ab12!", "12"), ("(?P<id>[0-9]+)", "ab12", "12"), (#"\(?<([a-z]+)>"#, "x(<tag>", "tag"),
        ("[0-9]+", "é 12", "12"), ("(x)?[0-9]+", "12", nil), ("^b", "a\nb", nil),
        ("(?m)^b", "a\nb", "b"), ("", "a", nil),
    ])
    func `gives its first group, or the whole match`(expression: String, text: String, word: String?) {
        #expect(AnswerPattern(expression)?.word(in: text) == word)
    }

    @Test(arguments: ["(", "[a", "a{2,1}", "(?=a)b", "(?<!a)b", #"(a)\1"#, "*"])
    func `that RE2 does not know is none`(expression: String) {
        #expect(AnswerPattern(expression) == nil)
    }
}
