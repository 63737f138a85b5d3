// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import CodeCourier

@Suite struct PasswordArgumentTests {
    @Test(
        arguments: [
            (["postgresql://owner:top%40secret@host/courier"], ["postgresql://owner@host/courier"]),
            (["postgresql://owner@host/courier?password=top%40secret"], ["postgresql://owner@host/courier"]),
            (
                ["postgres://owner:old@host:5433/courier?sslmode=require&password=top%40secret"],
                ["postgres://owner@host:5433/courier?sslmode=require"]
            ),
        ] as [([String], [String])]
    )
    func `a password moves out of the URL`(given: [String], moved: [String]) throws {
        for (before, after) in [
            (["migrate", "--postgres-url"] + given, ["migrate", "--postgres-url"] + moved),
            (["migrate", "--postgres-url=\(given[0])"], ["migrate", "--postgres-url=\(moved[0])"]),
        ] {
            let result = try #require(PasswordArgument.moved(from: before))
            #expect(result.arguments == after)
            #expect(result.password == "top@secret")
        }
    }

    @Test(
        arguments: [
            ["migrate"], ["migrate", "--postgres-url"],
            ["migrate", "--postgres-url", "postgresql://owner@host/courier"],
            ["migrate", "--postgres-url", "postgresql://%zz:secret@host/courier"],
            ["migrate", "--other", "postgresql://owner:secret@host/courier"],
        ]
    )
    func `other arguments stay as they are`(arguments: [String]) {
        #expect(PasswordArgument.moved(from: arguments) == nil)
    }
}
