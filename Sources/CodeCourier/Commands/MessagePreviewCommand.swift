// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Formats
import Verification

/// Shows the texts of messages and their cost in segments.
struct MessagePreviewCommand: AsyncParsableCommand {
    enum Channel: String, CaseIterable {
        case sms
        case email
    }

    static let configuration = CommandConfiguration(
        commandName: "preview",
        abstract: "Shows the text of a message in every variant, its alphabet, its units and its segments.",
        discussion: """
            One segment holds 160 units of GSM-7, or 70 of UCS-2 as soon as one character
            is not in GSM-7; each further segment costs as much as a message. A text that
            does not fit loses its minutes first, then all but the name and the code, and
            then shows the tenant's name for the request's own. Without a policy the
            built-in texts are shown. Exit code 0, or 1 when a text takes more than one
            segment.

              code-courier message preview --all
              code-courier message preview --policy policy.yaml --language de --region IN
              code-courier message preview --language ar --domain login.example.com
              code-courier message preview --channel email --language fr --html > fr.html
            """
    )

    @OptionGroup var options: ConfigurationOptions

    @Option(help: ArgumentHelp("The policy file; default: policy.path of --config.", valueName: "policy.yaml"))
    var policy: String?

    @Option(help: "The tenant whose texts are shown.")
    var tenant = "default"

    @Option(help: "sms or email.", transform: { try ChoiceArgument.value($0, of: "--channel") })
    var channel = Channel.sms

    @Option(help: "The person's language, such as pt-BR; default: the tenant's.")
    var language: String?

    @Flag(help: "Show every language.")
    var all = false

    @Option(help: "The region of the person's number, such as IN.")
    var region: String?

    @Option(help: "The request's own name of the app, up to 40 characters; default: the tenant's.")
    var appName: String?

    @Option(help: "The domain that the code is bound to.")
    var domain = MessageVariant.sampleDomain

    @Option(help: "Digits of the code, 4 to 10; default: the tenant's.")
    var codeLength: Int?

    @Flag(help: "Print the HTML part of the e-mail.")
    var html = false

    @Flag(help: "Show the e-mail that has a code and no link.")
    var noLink = false

    func validate() throws {
        guard language.map(LanguageArgument.isValid) ?? true else {
            throw ValidationError("--language must be a language tag such as en or pt-BR")
        }
        guard !all || (language == nil && !html) else {
            throw ValidationError("--all shows every language: leave out --language and --html")
        }
        guard !html || channel == .email else { throw ValidationError("--html needs --channel email") }
        guard !noLink || channel == .email else { throw ValidationError("--no-link needs --channel email") }
        guard region.map({ Region($0) != nil }) ?? true else {
            throw ValidationError("--region must be two capital letters, such as IN")
        }
        guard appName.map({ AppName(own: $0) != nil }) ?? true else {
            throw ValidationError("--app-name must be 1 to 40 characters without links, @ or four digits")
        }
        guard HostName(domain) != nil else { throw ValidationError("--domain must be a host name such as example.com") }
        guard codeLength.map({ (4...10).contains($0) }) ?? true else {
            throw ValidationError("--code-length must be from 4 to 10")
        }
    }

    func run() async throws {
        let preview = try preview()
        switch channel {
        case .sms:
            let table = preview.textMessages()
            printOutput(table.lines)
            guard table.isCheap else { throw ExitCode(1) }
        case .email where html:
            // A page for a browser, which has no terminal's width.
            printOutput(Array(preview.emails().map(\.html).joined(separator: "\n").utf8))
        case .email:
            printOutput(preview.emailLines())
        }
    }

    private func preview() throws -> MessagePreview {
        let rules = try rules()
        let region = region.flatMap { Region($0) } ?? .unknown
        let languages =
            switch channel {
            case _ where !all: [language ?? rules.defaultLanguage]
            case .sms: rules.messages.languages(in: region)
            case .email: MessageCatalog.languages
            }
        return MessagePreview(
            tenant: rules,
            region: region,
            languages: languages,
            appName: appName.flatMap { AppName(own: $0)?.text } ?? rules.appName,
            domain: domain,
            codeLength: codeLength ?? rules.code.length,
            hasLink: !noLink
        )
    }

    /// The tenant of the policy, or one with only the built-in texts.
    private func rules() throws -> TenantPolicy {
        let settings = try StartFailure.unwrap(
            PolicySettings.load(path: options.config, environment: options.environment)
        )
        guard let path = policy ?? settings.policyPath else {
            return TenantPolicy(
                appName: "Acme",
                regions: RegionPolicy(.allowByDefault(disallowed: [])),
                routes: Routes(fallback: [])
            )
        }
        let policy = try StartFailure.unwrap(PolicyFile.load(path: path, providers: settings.providers))
        if let rules = policy.tenants[tenant] { return rules }
        let known = policy.tenants.keys.sorted().joined(separator: ", ")
        throw StartFailure.report(["--tenant: \(path) has no such tenant; there are \(known)"])
    }
}

struct MessageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "message",
        abstract: "Shows the messages that people get.",
        subcommands: [MessagePreviewCommand.self]
    )
}
