// SPDX-License-Identifier: Apache-2.0

import Foundation
import PackagePlugin

/// Builds the texts, pages, SQL and tables in a target's folder into it, as the strings of an enum `Embedded`.
///
/// SwiftPM's `.embedInCode` makes arrays of bytes: 57 kB of them take the compiler 4 s, and a string less than 0.1 s.
@main struct EmbedFiles: BuildToolPlugin {
    private static let kinds: Set = ["css", "html", "js", "sql", "txt", "yaml"]

    func createBuildCommands(context: PluginContext, target: any Target) -> [Command] {
        guard let module = target.sourceModule else { return [] }
        let files = module.sourceFiles.map(\.url).filter { Self.kinds.contains($0.pathExtension) }
        let script = context.package.directoryURL.appending(path: "Sources/EmbedFiles/embed.sh")
        let output = context.pluginWorkDirectoryURL.appending(path: "Embedded.swift")
        return [
            .buildCommand(
                displayName: "Embedding files in \(target.name)",
                executable: script,
                arguments: [output.path] + files.map(\.path),
                inputFiles: [script] + files,
                outputFiles: [output]
            )
        ]
    }
}
